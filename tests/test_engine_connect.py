"""Finding an engine: the order, the user's own choice, and one line for everything that can be wrong with it."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.engine.addresses import Address, Surroundings, addresses
from harness.engine.client import Engine
from harness.engine.connect import connect, find, open_engine
from harness.engine.daemon import PrivateDaemon
from harness.engine.debian import distributions
from harness.errors import ExitCode, InfraError, TrialboxError, UserError


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for sockets on every platform."""
    with tempfile.TemporaryDirectory(prefix="tbc.", dir="/tmp") as name:
        yield Path(name)


def surroundings(
    folder: Path,
    environ: dict[str, str] | None = None,
    *,
    platform: str = "linux",
    root: bool = False,
    confined: bool = False,
    like: tuple[str, ...] = (),
) -> Surroundings:
    """A machine with no engine but those under *folder*."""
    return Surroundings(
        environ=environ or {},
        home=folder,
        platform=platform,
        root=root,
        confined=confined,
        distributions=frozenset(like),
        docker_socket=folder / "docker.sock",
        podman_socket=folder / "podman.sock",
        daemon=PrivateDaemon(folder / "data", folder / "run"),
    )


def write_context(home: Path, name: str, host: str, *, current: bool = False) -> None:
    identity = hashlib.sha256(name.encode()).hexdigest()
    metadata = home / ".docker" / "contexts" / "meta" / identity / "meta.json"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(json.dumps({"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": host}}}))
    if current:
        (home / ".docker" / "config.json").write_text(json.dumps({"currentContext": name}))


@contextmanager
def listening(path: Path, answer: bytes = b"") -> Iterator[None]:
    """A socket that gives one fixed answer to everyone, as an engine that we can't install would."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(path))
        server.listen()

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    if client.recv(4096):
                        client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def tried(here: Surroundings) -> list[str]:
    return [address.url for address in addresses(here)]


# ----------------------------------------------------------------------------------------------------------- the order


def test_docker_comes_before_podman_and_the_system_before_the_user(folder: Path) -> None:
    here = surroundings(folder, {"XDG_RUNTIME_DIR": "/run/user/7", "CONTAINER_HOST": "unix:///c.sock"})
    assert tried(here) == [
        f"unix://{folder}/docker.sock",
        "unix:///run/user/7/docker.sock",
        f"unix://{folder}/.docker/run/docker.sock",
        f"unix://{folder}/.docker/desktop/docker.sock",
        "unix:///c.sock",
        f"unix://{folder}/podman.sock",
        "unix:///run/user/7/podman/podman.sock",
    ]


def test_a_chosen_engine_is_the_only_one(folder: Path) -> None:
    write_context(folder, "work", "tcp://10.0.0.1:2375", current=True)
    write_context(folder, "home", "unix:///h.sock")
    assert tried(surroundings(folder)) == ["tcp://10.0.0.1:2375"]
    assert tried(surroundings(folder, {"DOCKER_CONTEXT": "home"})) == ["unix:///h.sock"]
    both = {"DOCKER_CONTEXT": "home", "DOCKER_HOST": "unix:///d.sock"}
    assert tried(surroundings(folder, both)) == ["unix:///d.sock"]
    assert len(tried(surroundings(folder, {"DOCKER_CONTEXT": "default"}))) > 1


def test_docker_config_names_the_folder_of_contexts(folder: Path) -> None:
    elsewhere = folder / "elsewhere"
    write_context(elsewhere, "work", "unix:///w.sock", current=True)
    assert tried(surroundings(folder, {"DOCKER_CONFIG": str(elsewhere / ".docker")})) == ["unix:///w.sock"]


def test_tls_settings_are_read_for_docker_host(folder: Path) -> None:
    for name in ("ca.pem", "cert.pem", "key.pem"):
        (folder / name).write_text("x")
    environ = {"DOCKER_HOST": "tcp://localhost:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(folder)}
    (address,) = addresses(surroundings(folder, environ))
    assert address.tls is not None
    assert address.tls.verify
    assert address.tls.cert == (str(folder / "cert.pem"), str(folder / "key.pem"))
    missing = environ | {"DOCKER_CERT_PATH": str(folder / "absent")}
    with pytest.raises(UserError, match="DOCKER_CERT_PATH"):
        tried(surroundings(folder, missing))


# ------------------------------------------------------------------------------------------------------ a real engine


@pytest.mark.engine
@pytest.mark.parametrize("way", ["DOCKER_HOST", "context", "default socket", "CONTAINER_HOST", "Podman's place"])
def test_every_way_leads_to_the_engine(engine: Engine, folder: Path, way: str) -> None:
    path = Path(engine.info.address.removeprefix("unix:"))
    environ: dict[str, str] = {}
    match way:
        case "DOCKER_HOST" | "CONTAINER_HOST":
            environ[way] = f"unix://{path}"
        case "context":
            write_context(folder, "work", f"unix://{path}", current=True)
        case "default socket":
            (folder / "docker.sock").symlink_to(path)
        case _:
            (folder / "podman.sock").symlink_to(path)
    with connect(start=False, surroundings=surroundings(folder, environ)) as found:
        assert found.info.version == engine.info.version
        assert found.api.ping()


@pytest.mark.engine
def test_a_dead_default_socket_does_not_hide_a_live_one(engine: Engine, folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(folder / "docker.sock"))
    (folder / "podman.sock").symlink_to(engine.info.address.removeprefix("unix:"))
    found, refused = find(surroundings(folder))
    assert found is not None
    found.close()
    assert [address.origin for address, _ in refused] == ["the default socket"]


# --------------------------------------------------------------------------------------------------- what can be wrong


def failure(here: Surroundings) -> TrialboxError:
    with pytest.raises(TrialboxError) as caught, connect(start=False, surroundings=here):
        pass
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("environ", "says", "code"),
    [
        ({"DOCKER_HOST": "unix:///nowhere.sock"}, "unset DOCKER_HOST", ExitCode.INFRA),
        ({"DOCKER_HOST": "tcp://127.0.0.1:1"}, "Connection refused", ExitCode.INFRA),
        ({"DOCKER_HOST": "nonsense://x y"}, "malformed address", ExitCode.USER),
        ({"DOCKER_HOST": "ssh://host"}, "forward its socket", ExitCode.USER),
        ({"DOCKER_CONTEXT": "absent"}, "docker context ls", ExitCode.USER),
        ({"CONTAINER_HOST": "unix:///nowhere.sock"}, "unset CONTAINER_HOST", ExitCode.INFRA),
    ],
)
def test_a_chosen_engine_that_is_wrong_is_said_so(
    folder: Path, environ: dict[str, str], says: str, code: ExitCode
) -> None:
    error = failure(surroundings(folder, environ))
    assert says in str(error)
    assert error.exit_code is code


def test_a_dead_context_is_said_so(folder: Path) -> None:
    write_context(folder, "colima", f"unix://{folder}/colima.sock", current=True)
    assert "docker context use" in str(failure(surroundings(folder)))


def test_a_broken_docker_configuration_is_a_users_mistake(folder: Path) -> None:
    (folder / ".docker").mkdir()
    (folder / ".docker" / "config.json").write_text("{")
    error = failure(surroundings(folder))
    assert isinstance(error, UserError)
    assert "config.json" in str(error)


@pytest.mark.parametrize(
    ("platform", "root", "like", "command"),
    [
        ("darwin", False, (), "colima start"),
        ("linux", False, ("debian",), "sudo apt-get install -y docker.io"),
        ("linux", False, ("ubuntu", "debian"), "usermod -aG docker"),
        ("linux", False, ("fedora",), "dnf install -y moby-engine"),
        ("linux", False, ("arch",), "Podman 4.3"),
        ("linux", True, ("debian",), "`trialbox run` starts its own"),
    ],
)
def test_a_machine_without_an_engine_is_told_what_to_type(
    folder: Path, platform: str, root: bool, like: tuple[str, ...], command: str
) -> None:
    error = failure(surroundings(folder, platform=platform, root=root, like=like))
    assert command in str(error)
    assert error.exit_code is ExitCode.INFRA


def test_root_in_an_unprivileged_container_is_not_promised_an_engine(folder: Path) -> None:
    here = surroundings(folder, root=True, confined=True, like=("debian",))
    assert not here.can_start
    assert "--privileged" in str(failure(here))


def test_an_engine_that_is_down_is_to_be_started_not_installed(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(folder / "docker.sock"))
    assert "systemctl start docker" in str(failure(surroundings(folder, like=("debian",))))


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="becomes another user, which needs root")
def test_a_socket_that_one_may_not_use_names_the_group(folder: Path) -> None:
    folder.chmod(0o755)
    with listening(folder / "docker.sock"):
        (folder / "docker.sock").chmod(0o600)
        os.seteuid(65534)
        try:
            error = failure(surroundings(folder, like=("debian",)))
        finally:
            os.seteuid(0)
    assert "usermod -aG docker" in str(error)


def test_an_engine_that_is_too_old_is_refused(folder: Path) -> None:
    body = json.dumps({"Version": "19.03.15", "ApiVersion": "1.40"}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with listening(folder / "docker.sock", head + body):
        error = failure(surroundings(folder))
    assert "20.10" in str(error)
    assert error.exit_code is ExitCode.INFRA


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n", b"SSH-2.0-x\r\n"])
def test_a_socket_that_is_no_engine_is_one_line(folder: Path, answer: bytes) -> None:
    with listening(folder / "x.sock", answer), pytest.raises(InfraError, match="no engine answers") as caught:
        open_engine(Address("DOCKER_HOST", f"unix://{folder}/x.sock", chosen=True))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('ID=ubuntu\nID_LIKE="debian"\n', {"ubuntu", "debian"}),
        ("ID='debian'\n", {"debian"}),
        ('NAME=x\nID_LIKE="rhel fedora"', {"rhel", "fedora"}),
        ("", set()),
    ],
)
def test_distributions_are_read_from_os_release(tmp_path: Path, text: str, expected: set[str]) -> None:
    (tmp_path / "os-release").write_text(text)
    assert distributions(tmp_path / "os-release") == expected
    assert distributions(tmp_path / "absent") == frozenset()
