"""The private daemon: started, shared, adopted, replaced, gone without a trace. Each test has its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.engine import mounts
from harness.engine.addresses import Address, Surroundings
from harness.engine.client import LABEL
from harness.engine.connect import connect, open_engine
from harness.engine.daemon import PrivateDaemon
from harness.engine.debian import distributions, install_docker, installed
from harness.errors import InfraError, UserError
from tests.tiny_image import load_tiny_image

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not (sys.platform == "linux" and os.geteuid() == 0 and (installed("dockerd") or "debian" in distributions())),
        reason="a private daemon needs root on a Debian-family Linux",
    ),
]

HOLD = """
import sys
from pathlib import Path
from harness.engine.daemon import PrivateDaemon
with PrivateDaemon(Path(sys.argv[1]), Path(sys.argv[2])).hold(keep=False, notify=lambda line: None):
    print("held", flush=True)
    sys.stdin.readline()
"""


def quiet(line: str) -> None:
    """Nobody listens."""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[PrivateDaemon]:
    if not installed("dockerd"):
        install_docker(quiet)
    run = Path(tempfile.mkdtemp(prefix="tbd.", dir="/run"))
    private = PrivateDaemon(tmp_path / "data", run)
    yield private
    private.stop()
    assert traces(private) == []
    shutil.rmtree(run)


def traces(private: PrivateDaemon) -> list[str]:
    """All that a stopped daemon must not leave."""
    left = [str(path) for path in private.run.iterdir() if path.suffix not in {".lock", ".log"}]
    processes = [
        read(entry).decode(errors="replace").replace("\0", " ")
        for entry in Path("/proc").glob("[0-9]*/cmdline")
        if str(private.run).encode() in read(entry)
    ]
    return [str(point) for point in mounts.points(private.data, private.run)] + left + processes


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process ended while we looked
        return b""


def hold_elsewhere(private: PrivateDaemon) -> subprocess.Popen[str]:
    """Another command that uses the daemon until it is told to end."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(private.data), str(private.run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def is_held(command: subprocess.Popen[str]) -> bool:
    assert command.stdout is not None
    return command.stdout.readline() == "held\n"


def let_go(command: subprocess.Popen[str]) -> None:
    command.communicate("\n", timeout=120)
    assert command.returncode == 0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def freeze(pid: int) -> None:
    """Stop a process, and wait until its last thread has: until then it may still answer."""
    os.kill(pid, signal.SIGSTOP)
    threads = Path(f"/proc/{pid}/task")
    wait_until(lambda: all(b") T " in read(thread / "stat") for thread in threads.iterdir()))


def test_it_runs_containers_and_leaves_nothing(daemon: PrivateDaemon, tmp_path: Path) -> None:
    nowhere = tmp_path / "no.sock"
    here = Surroundings(environ={}, home=tmp_path, docker_socket=nowhere, podman_socket=nowhere, daemon=daemon)
    with connect(surroundings=here) as engine:
        assert engine.info.root_dir == str(daemon.data)
        api = engine.api
        made: str = api.create_container(
            load_tiny_image(engine),
            ["sleep", "600"],
            labels={LABEL: "1"},
            host_config=api.create_host_config(network_mode="none", pids_limit=64, mem_limit="64m"),
        )["Id"]
        api.start(made)
        assert api.exec_start(api.exec_create(made, ["sh", "-c", "echo hello"])["Id"]) == b"hello\n"
        api.remove_container(made, force=True)
    assert traces(daemon) == []
    with connect(surroundings=here) as engine:
        assert engine.api.images(filters={"label": LABEL}), "images outlive the daemon"


def test_the_hosts_network_settings_stay(daemon: PrivateDaemon) -> None:
    forwarding = Path("/proc/sys/net/ipv4/ip_forward")
    before = forwarding.read_text(), sorted(path.name for path in Path("/sys/class/net").iterdir())
    with daemon.hold(keep=False, notify=quiet):
        assert (forwarding.read_text(), sorted(path.name for path in Path("/sys/class/net").iterdir())) == before


def test_it_has_a_network_of_its_own_so_that_another_engines_bridge_stays(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=False, notify=quiet):
        (pid,) = daemon.pids()
        assert Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()


def test_commands_share_one_and_the_last_stops_it(daemon: PrivateDaemon) -> None:
    commands = [hold_elsewhere(daemon) for _ in range(3)]
    assert all(is_held(command) for command in commands)
    assert len(daemon.pids()) == 1
    for command in commands:
        assert daemon.answers()
        let_go(command)
    assert traces(daemon) == []


def test_one_left_by_a_killed_command_is_adopted(daemon: PrivateDaemon) -> None:
    command = hold_elsewhere(daemon)
    assert is_held(command)
    command.kill()
    command.communicate()
    (pid,) = daemon.pids()
    with daemon.hold(keep=False, notify=quiet):
        assert daemon.pids() == [pid]
    assert traces(daemon) == []


def test_one_whose_command_died_in_mid_start_is_adopted_or_replaced(daemon: PrivateDaemon) -> None:
    command = hold_elsewhere(daemon)
    wait_until(lambda: bool(daemon.pids()))
    command.kill()
    command.communicate()
    with daemon.hold(keep=False, notify=quiet):
        assert daemon.answers()
        assert len(daemon.pids()) == 1


def test_it_stays_when_asked_to_until_a_command_does_not_ask(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=True, notify=quiet):
        (pid,) = daemon.pids()
    assert daemon.answers()
    with daemon.hold(keep=False, notify=quiet):
        assert daemon.pids() == [pid]
    assert traces(daemon) == []


def test_who_only_looks_starts_and_stops_nothing(daemon: PrivateDaemon, tmp_path: Path) -> None:
    nowhere = tmp_path / "no.sock"
    here = Surroundings(environ={}, home=tmp_path, docker_socket=nowhere, podman_socket=nowhere, daemon=daemon)
    with pytest.raises(InfraError, match="no container engine"), connect(start=False, surroundings=here):
        pass
    with daemon.hold(keep=True, notify=quiet):
        pass
    with connect(start=False, surroundings=here) as engine:
        assert engine.info.root_dir == str(daemon.data)
    assert daemon.answers()


def test_a_killed_daemon_is_replaced_and_its_containers_end(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=True, notify=quiet) as url:
        engine = open_engine(Address("test", url))
        made: str = engine.api.create_container(
            load_tiny_image(engine), ["sleep", "600"], labels={LABEL: "1"}, network_disabled=True
        )["Id"]
        engine.api.start(made)
        inside = int(engine.api.inspect_container(made)["State"]["Pid"])
        (pid,) = daemon.pids()
        os.kill(pid, signal.SIGKILL)
        engine.close()
    with daemon.hold(keep=False, notify=quiet) as url:
        assert daemon.pids() != [pid]
        engine = open_engine(Address("test", url))
        assert not engine.api.inspect_container(made)["State"]["Running"]
        assert not Path(f"/proc/{inside}/exe").exists()
        engine.api.remove_container(made, force=True)
        engine.close()
    assert traces(daemon) == []


def test_a_killed_daemon_leaves_no_container_when_stopped(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=False, notify=quiet) as url:
        engine = open_engine(Address("test", url))
        made: str = engine.api.create_container(load_tiny_image(engine), ["sleep", "600"], labels={LABEL: "1"})["Id"]
        engine.api.start(made)
        inside = int(engine.api.inspect_container(made)["State"]["Pid"])
        engine.close()
        os.kill(daemon.pids()[0], signal.SIGKILL)
    assert traces(daemon) == []
    assert not Path(f"/proc/{inside}/exe").exists()


def test_one_without_its_socket_is_replaced(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=True, notify=quiet) as url:
        (pid,) = daemon.pids()
    Path(url.removeprefix("unix://")).unlink()
    with daemon.hold(keep=False, notify=quiet):
        assert daemon.answers()
        assert pid not in daemon.pids()


@pytest.mark.slow
def test_a_frozen_one_is_replaced(daemon: PrivateDaemon) -> None:
    with daemon.hold(keep=True, notify=quiet):
        (pid,) = daemon.pids()
    freeze(pid)
    with daemon.hold(keep=False, notify=quiet):
        assert daemon.answers()
        assert pid not in daemon.pids()


@pytest.mark.slow
def test_a_frozen_one_that_another_command_uses_is_left_alone(daemon: PrivateDaemon) -> None:
    command = hold_elsewhere(daemon)
    assert is_held(command)
    (pid,) = daemon.pids()
    freeze(pid)
    with pytest.raises(InfraError, match="other commands"), daemon.hold(keep=False, notify=quiet):
        pass
    os.kill(pid, signal.SIGCONT)
    assert daemon.pids() == [pid]
    let_go(command)


def test_programs_that_only_look_like_it_are_left_alone(daemon: PrivateDaemon, tmp_path: Path) -> None:
    """A stale pid file with a pid that lives, and a program that was given the daemon's own arguments."""
    (daemon.run / "dockerd.pid").write_text(str(os.getpid()))
    look_alike = subprocess.Popen(["tail", "-f", "/dev/null", f"--pid={os.getpid()}", daemon.run / "daemon.json"])
    elsewhere = PrivateDaemon(tmp_path / "other", Path(f"{daemon.run}x"))
    try:
        with daemon.hold(keep=False, notify=quiet):
            assert elsewhere.pids() == []
        assert look_alike.poll() is None or look_alike.returncode >= 0, "it was not killed"
    finally:
        look_alike.terminate()
        look_alike.wait()


def test_one_that_can_not_start_says_why(daemon: PrivateDaemon) -> None:
    daemon.data.mkdir(parents=True)
    (daemon.data / "containers").write_text("not a folder")
    with pytest.raises(InfraError, match=r"did not start: .*not a directory"), daemon.hold(keep=False, notify=quiet):
        pass
    assert traces(daemon) == []


def test_a_run_folder_with_a_long_path_is_refused(tmp_path: Path) -> None:
    deep = PrivateDaemon(tmp_path, Path("/run") / ("x" * 90))
    with pytest.raises(UserError, match="too long"), deep.hold(keep=False, notify=quiet):
        pass
