"""Nothing but its gateway can be reached from a solver's container; and each of these tests can fail.

Every probe is made twice: from a sealed container, where it must get nowhere, and from one whose isolation is broken on
purpose, where the same probe must get through. The broken ones are on a network of the test's own that leads nowhere.
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from harness.engine import exec as engine_exec
from harness.engine.client import LABEL, Engine
from harness.engine.exec import ExecResult
from harness.engine.owned import STATE_LABEL, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec
from harness.errors import GateError, InfraError
from harness.gateway import reach
from harness.gateway.hook import INSIDE, INSIDE_FOLDER, GatewayHook
from harness.gateway.reach import TARGETS, bridges, prove_reach, try_all
from tests.gateway_rig import GatewayRig, gateway_rig, upstream_server

pytestmark = pytest.mark.engine

TRY = f"import sys; sys.path.insert(0, {INSIDE_FOLDER!r}); import probe; print(probe.attempt(*eval(sys.argv[1])))"
SERVE = """
import socket, sys, time
one = socket.socket(); one.bind(("0.0.0.0", int(sys.argv[1]))); one.listen()
other = socket.socket(socket.AF_UNIX); other.bind(chr(0) + sys.argv[2]); other.listen()
print("serving", flush=True); time.sleep(600)
"""
ABSTRACT = """
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(chr(0) + sys.argv[1]); print("reached")
except OSError as error:
    print(error.strerror)
"""
NEIGHBOUR = """
import http.client, socket, sys
class Other(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(sys.argv[1])
one = Other("localhost")
try:
    one.request("GET", "/v1/models", headers={"x-api-key": sys.argv[2]})
    print("reached" if one.getresponse().status == 200 else "denied")
except OSError as error:
    print(error.strerror)
"""


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayRig]:
    with gateway_rig(tmp_path_factory.mktemp("gateway")) as made:
        yield made


@contextmanager
def sealed(
    engine: Engine, images, owner: str, rig: GatewayRig, *more: BindMount
) -> Iterator[tuple[Sandbox, GatewayHook]]:
    """A solver's container with a door, as the harness makes it."""
    with upstream_server() as fake:
        hook = GatewayHook(rig.gateway, rig.access(fake.url))
        spec = SandboxSpec(role=Role.SOLVER, image=images["base"].handle, binds=(*hook.binds, *more), workdir="/tmp")
        with Sandbox(engine, spec, owner) as sandbox:
            yield sandbox, hook
        hook.after_solve()


def said(sandbox: Sandbox, script: str, *words: str) -> str:
    return sandbox.run(("python3", "-c", script, *words), timeout_s=60, max_output=4096).stdout.decode().strip()


class Loose:
    """A container that the harness would never make."""

    def __init__(self, engine: Engine, images, owner: str, network: str, *, name: str = "") -> None:
        self.engine = engine
        self.name = name or opaque_name()
        self.id = engine.api.create_container(
            images["base"].handle,
            command=["sleep", "600"],
            name=self.name,
            user="10001:10001",
            labels={LABEL: "1", STATE_LABEL: owner},
            host_config=engine.api.create_host_config(
                network_mode=network, binds=[f"{INSIDE}:{INSIDE_FOLDER}:ro"], cap_drop=["ALL"]
            ),
        )["Id"]
        engine.api.start(self.id)

    def __enter__(self) -> Loose:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.api.remove_container(self.id, force=True)

    @property
    def address(self) -> str:
        networks = self.engine.api.inspect_container(self.id)["NetworkSettings"]["Networks"]
        return next(one["IPAddress"] for one in networks.values())

    def serve(self, port: int, abstract: str) -> None:
        """Serve a port on all interfaces, and an abstract socket."""
        made = self.engine.api.exec_create(self.id, ["python3", "-c", SERVE, str(port), abstract])
        stream = self.engine.api.exec_start(made["Id"], stream=True)
        assert b"serving" in next(iter(stream))

    def run(self, argv, stdin: bytes = b"", timeout_s: float = 60, max_output: int = 4096) -> ExecResult:
        """As a sandbox does."""
        return engine_exec.run(
            self.engine,
            self.id,
            argv,
            user="10001:10001",
            workdir="/tmp",
            env={},
            stdin=stdin,
            timeout_s=timeout_s,
            max_output=max_output,
        )

    def said(self, script: str, *words: str) -> str:
        return self.run(("python3", "-c", script, *words)).stdout.decode().strip()


@pytest.fixture
def network(engine: Engine, owner: str) -> Iterator[str]:
    """A bridge network that leads nowhere."""
    name = "tb-" + secrets.token_hex(8)
    engine.api.create_network(name, driver="bridge", internal=True, labels={LABEL: "1", STATE_LABEL: owner})
    yield name
    engine.api.remove_network(name)


def local_addresses() -> list[str]:
    """This host's own addresses, from its routing table of local ones."""
    text = Path("/proc/net/fib_trie").read_text().splitlines()
    return sorted({one.split()[-1] for one, after in pairwise(text) if "/32 host LOCAL" in after})


# ------------------------------------------------------------------------------------------------------- the host


def test_host_services_on_all_interfaces_are_unreachable(engine, images, owner, rig):
    with socket.socket() as server, sealed(engine, images, owner, rig) as (sandbox, _):
        server.bind(("0.0.0.0", 0))
        server.listen()
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            pass  # it serves
        addresses = [*local_addresses(), *(target[2] for target in bridges(engine))]
        assert len(addresses) >= 2
        for address in addresses:
            result = said(sandbox, TRY, repr(("tcp", address, port)))
            assert result in {"ENETUNREACH", "ECONNREFUSED" if address.startswith("127.") else ""}, address


def test_on_a_bridge_the_same_probe_reaches_the_host_and_its_neighbours(engine, images, owner, network):
    if engine.info.kind.value == "podman":
        pytest.skip("rootless bridges have another host")
    gateway = engine.api.inspect_network(network)["IPAM"]["Config"][0]["Gateway"]
    port = _free_port()
    with (
        Loose(engine, images, owner, "host") as host,
        Loose(engine, images, owner, network) as neighbour,
        Loose(engine, images, owner, network) as broken,
    ):
        host.serve(port, secrets.token_hex(8))
        neighbour.serve(port, secrets.token_hex(8))
        assert broken.said(TRY, repr(("tcp", gateway, port))) == "reached"
        assert broken.said(TRY, repr(("tcp", neighbour.address, port))) == "reached"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


# ------------------------------------------------------------------------------------------------------------- DNS


def test_no_name_is_known_and_no_resolver_answers(engine, images, owner, rig):
    with sealed(engine, images, owner, rig) as (sandbox, _):
        for probe in (("name", "example.com", 80), ("dns A", "127.0.0.1", 53), ("dns TXT", "127.0.0.11", 53)):
            assert said(sandbox, TRY, repr(probe)) not in {"reached", ""}
        resolvers = sandbox.run(("cat", "/etc/resolv.conf"), timeout_s=30, max_output=4096).stdout
        assert [line for line in resolvers.decode().splitlines() if line.startswith("nameserver")] in (
            ["nameserver 127.0.0.1"],
            [],
        )


def test_on_a_bridge_the_same_probe_finds_a_name(engine, images, owner, network):
    with Loose(engine, images, owner, network) as neighbour, Loose(engine, images, owner, network) as broken:
        assert broken.said(TRY, repr(("name", neighbour.name, 80))) == "reached"


# ----------------------------------------------------------------------------------------------- abstract sockets


def test_abstract_sockets_are_out_of_sight_unless_the_namespace_is_shared(engine, images, owner, rig):
    name = secrets.token_hex(8)
    with socket.socket(socket.AF_UNIX) as ours, sealed(engine, images, owner, rig) as (sandbox, _):
        ours.bind("\0" + name)
        ours.listen()
        assert said(sandbox, ABSTRACT, name) == "Connection refused"
    with Loose(engine, images, owner, "none") as one:
        one.serve(_free_port(), name)
        with Loose(engine, images, owner, f"container:{one.id}") as broken:
            assert broken.said(ABSTRACT, name) == "reached"


# ------------------------------------------------------------------------------------------------- other attempts


def test_another_attempts_socket_is_out_of_reach_unless_its_folder_is_mounted(engine, images, owner, rig):
    with upstream_server() as fake:
        other = rig.door(fake.url)
        with sealed(engine, images, owner, rig) as (sandbox, hook):
            path = str(other.door.folder / "gateway.sock")
            assert said(sandbox, NEIGHBOUR, path, other.door.token) == "No such file or directory"
            assert said(sandbox, NEIGHBOUR, "/run/gateway/gateway.sock", other.door.token) == "denied"
            assert said(sandbox, NEIGHBOUR, "/run/gateway/gateway.sock", hook.token) == "reached"
            found = sandbox.run(("find", "/", "-xdev", "-type", "s"), timeout_s=60, max_output=4096).stdout
            below = sandbox.run(("find", "/run/gateway"), timeout_s=60, max_output=4096).stdout
            assert (found, below.split()) == (b"", [b"/run/gateway", b"/run/gateway/gateway.sock"])
        mounted = BindMount(source=str(other.door.folder), target="/run/other")
        with sealed(engine, images, owner, rig, mounted) as (broken, _):
            assert said(broken, NEIGHBOUR, "/run/other/gateway.sock", other.door.token) == "reached"
        other.close()


def test_the_socket_cant_be_taken_away_or_replaced(engine, images, owner, rig):
    with sealed(engine, images, owner, rig) as (sandbox, hook):
        tried = sandbox.run(
            ("sh", "-c", "rm -f /run/gateway/gateway.sock; touch /run/gateway/x; chmod 0 /run/gateway/gateway.sock"),
            timeout_s=30,
            max_output=4096,
        )
        assert tried.stderr.count(b"Read-only file system") + tried.stderr.count(b"not permitted") == 3
        assert said(sandbox, NEIGHBOUR, "/run/gateway/gateway.sock", hook.token) == "reached"


# ----------------------------------------------------------------------------------------------------- the preflight


def test_a_sealed_engine_passes_and_every_try_got_nowhere(engine, images, owner, rig):
    reached = prove_reach(engine, images["base"].handle, owner, rig.gateway)
    assert {name for name, *_ in TARGETS} <= set(reached.results)
    assert all(result not in {"reached", ""} for result in reached.results.values())
    assert list(rig.gateway.folder.glob("*/gateway.sock")) == []


def test_a_container_on_a_bridge_is_refused_from_its_own_tables_and_sends_nothing(engine, images, owner, network):
    with Loose(engine, images, owner, network) as joined:
        # Targets that would be an error, had any been tried.
        ran = joined.run(("python3", "-I", f"{INSIDE_FOLDER}/probe.py"), stdin=b'{"targets": 7}')
        told = json.loads(ran.stdout)
        assert "eth0" in told["tables"] and told["results"] == {}
        with pytest.raises(GateError, match="a container has the network") as refused:
            try_all(joined, TARGETS)
        assert refused.value.exit_code == 4


def test_an_engine_that_joins_containers_to_a_bridge_is_refused(engine, images, owner, network, rig, monkeypatch):
    real = engine.api.create_host_config

    def joining(**options):
        return real(**options | {"network_mode": network, "dns": None})

    monkeypatch.setattr(engine.api, "create_host_config", joining)
    made = engine.api.create_container

    def connected(image, **options):
        return made(image, **options | {"network_disabled": False})

    monkeypatch.setattr(engine.api, "create_container", connected)
    with pytest.raises(GateError, match="has network interfaces eth0") as refused:
        prove_reach(engine, images["base"].handle, owner, rig.gateway)
    assert refused.value.exit_code == 4


def test_a_try_that_gets_somewhere_refuses_the_run(engine, images, owner, rig):
    with sealed(engine, images, owner, rig) as (sandbox, _):
        code = "import socket, time; s = socket.socket(); s.bind(('127.0.0.1', 4711)); s.listen(); time.sleep(600)"
        made = engine.api.exec_create(sandbox.id, ["python3", "-c", code], user="10001:10001")
        engine.api.exec_start(made["Id"], detach=True)
        target = (("leak", "tcp", "127.0.0.1", 4711),)
        with pytest.raises(GateError, match="it was reached: leak"):
            for _ in range(100):
                try_all(sandbox, target)


def test_a_gateway_that_cant_be_reached_is_no_isolation(engine, images, owner, rig, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reach, "LAUNCH", ("python3", "-I", "-c", "import sys; sys.exit('no way')"))
    with pytest.raises(InfraError, match="can't be reached from a container: no way"):
        prove_reach(engine, images["base"].handle, owner, rig.gateway)
