"""The gateway in a container: what a run gets of it is what it gets of one beside it, and nothing else is reached."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, ensure
from harness.engine.owned import reap
from harness.engine.sandbox import Sandbox
from harness.engine.seal import SealSource
from harness.engine.spec import Role, SandboxSpec
from harness.errors import InfraError, UserError
from harness.evidence import AttemptRecord
from harness.gateway.access import Access, Auth, Upstream
from harness.gateway.apart import ContainerGateway, Rehearsal
from harness.gateway.calls import SOCKET_FOLDER
from harness.gateway.hook import LAUNCH, GatewayHook
from harness.gateway.reach import prove_reach, try_all
from harness.gateway.records import Api
from harness.gateway.scripted.script import Dialect, Script, Turn
from harness.gateway.settings import Settings
from harness.gateway.usage import total
from harness.ledger import Ledger
from harness.outcomes import Outcome
from harness.progress import Progress
from harness.records import ExecutionMode, from_json
from harness.solvers.manifest import DriverKind, Manifest, Solver
from harness.state import State
from harness.store import LocalStore
from harness.suites.load import load_task
from harness.traffic import read_trace
from tests.agents_rig import AgentRig
from tests.attempt_rig import make_rig
from tests.cli_rig import trialbox
from tests.conftest import ROOT, image_cache
from tests.formats_rig import write_function_task
from tests.relay import relayed
from trialbox.entrance import Entrance

pytestmark = [pytest.mark.engine, pytest.mark.slow]

KEY = "sk-real-0123456789-abcdefghij"
NOWHERE = Upstream(name="fake", url="http://127.0.0.1:9", auth={Api.CHAT: Auth.BEARER}, credential="K")
ASK = """
import json, os, sys, urllib.error, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]}).encode()
head = {"authorization": "Bearer " + os.environ["TOKEN"], "content-type": "application/json"}
try:
    asked = urllib.request.Request("http://127.0.0.1:8080/v1/chat/completions", body, head)
    print(urllib.request.urlopen(asked).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


@pytest.fixture(scope="module")
def gateway_image(engine: Engine) -> str:
    return ensure(engine.api, "gateway", cache=image_cache(), images_dir=ROOT / "images", report=print).handle


@contextmanager
def opened(
    engine: Engine, image: str, owner: str, folder: Path, doors: int = 2, network: str = "none"
) -> Iterator[ContainerGateway]:
    patience = Settings(idle_s=5, drain_s=5)
    with ContainerGateway(
        engine, image, owner, folder / "blobs", {"fake": KEY}, doors=doors, network=network, settings=patience
    ) as gateway:
        yield gateway


def played(gateway: ContainerGateway) -> tuple[Access, str]:
    """The scripted provider inside, and a key of it."""
    url, key = gateway.play(Script(dialect=Dialect.REPLY, turns=(Turn(say="well"),)))
    where = Upstream(name="fake", url=url, auth={Api.CHAT: Auth.BEARER}, credential="K")
    return Access(upstream=where, apis=(Api.CHAT,), models=("m",)), key


@contextmanager
def sealed(engine: Engine, images, owner: str, gateway: ContainerGateway) -> Iterator[tuple[Sandbox, GatewayHook]]:
    """A solver's container with a door."""
    access, key = played(gateway)
    hook = GatewayHook(gateway, access, key=key)
    spec = SandboxSpec(
        role=Role.SOLVER,
        image=images["base"].handle,
        binds=tuple(hook.binds),
        volumes=tuple(hook.volumes),
        workdir="/tmp",
    )
    try:
        with Sandbox(engine, spec, owner) as sandbox:
            yield sandbox, hook
    finally:
        hook.after_solve()


def asked(sandbox: Sandbox, token: str, said: str = "hello") -> str:
    ran = sandbox.run((*LAUNCH, "python3", "-I", "-c", ASK, said), timeout_s=60, max_output=4096, env={"TOKEN": token})
    return ran.stdout.decode().strip()


def shell(sandbox: Sandbox, script: str) -> str:
    ran = sandbox.run(("sh", "-c", script), timeout_s=30, max_output=4096)
    return (ran.stdout + ran.stderr).decode().strip()


class Played(Rehearsal):
    """As the rig of agents uses a scripted provider."""

    def truth(self, key: str):
        return self._gateway.truth(key)


def test_a_worker_solves_and_its_tokens_are_the_providers(
    engine: Engine, images: Mapping[str, BuiltImage], gateway_image: str, owner: str, tmp_path: Path
) -> None:
    with opened(engine, gateway_image, owner, tmp_path) as gateway:
        hooks: list[GatewayHook] = []
        rig = AgentRig(
            make_rig(engine, images, tmp_path, owner, lambda _: tuple(hooks)), gateway, Played(gateway), hooks
        )
        for api in (Api.ANTHROPIC,):
            solver = Solver(manifest=Manifest(name="asks", driver=DriverKind.WORKER, api=api, model="m-1"))
            went = rig.run(solver, load_task(write_function_task(tmp_path / api.value)))
            assert went.record.outcome is Outcome.SOLVED, went.record.reason
            assert len(went.truth) == 1 and went.truth[0].usage is not None
            used = total((one.request_id, one.usage) for one in went.truth if one.usage is not None)
            assert went.closed.traffic.usage == used and used.stated
            (line,) = read_trace(rig.rig.store, went.closed.trace)
            assert json.loads(rig.text(line.sent))["model"] == "m-1"
            assert rig.text(line.received)


def test_nothing_but_its_own_door_is_reached_from_a_solver(
    engine: Engine, images: Mapping[str, BuiltImage], gateway_image: str, owner: str, tmp_path: Path
) -> None:
    """The gateway's own container is on a network here, as it is where models are real."""
    with opened(engine, gateway_image, owner, tmp_path, network="bridge") as gateway:
        networks = engine.api.inspect_container(gateway.container.id)["NetworkSettings"]["Networks"]
        address = networks["bridge"]["IPAddress"]
        # The private engine has no bridge; its gateway's container has no address there that could be reached.
        targets = (("gateway", "tcp", address, 80), ("gateway_http", "http", address, 8080)) if address else ()
        assert prove_reach(engine, images["base"].handle, owner, gateway)
        with (
            sealed(engine, images, owner, gateway) as (first, one),
            sealed(engine, images, owner, gateway) as (second, other),
        ):
            assert asked(first, one.token) == asked(second, other.token) == "200"
            assert asked(first, other.token) == "401"
            reached = try_all(first, targets) if targets else None
            assert reached is None or set(reached.results) == {"gateway", "gateway_http"}
            assert shell(first, f"ls -A {SOCKET_FOLDER}; ls -A /run/doors").startswith(
                "gateway.sock\nls: cannot access"
            )
            for attack in ("rm -f gateway.sock", "touch x", "chmod 000 gateway.sock", "mv gateway.sock y"):
                assert "Read-only" in shell(first, f"cd {SOCKET_FOLDER} && {attack}")
            assert asked(second, other.token) == "200"
        waits = [json.loads(one.closed.model_dump_json())["traffic"]["requests"] for one in (one, other)]
        assert waits == [1, 2]


def test_a_door_is_lent_again_and_again_and_each_time_anew(
    engine: Engine, images: Mapping[str, BuiltImage], gateway_image: str, owner: str, tmp_path: Path
) -> None:
    """Five attempts through two doors: nobody's token is good for another, and no trace has another's lines."""
    store = LocalStore(tmp_path / "blobs")
    tokens: list[str] = []
    with opened(engine, gateway_image, owner, tmp_path) as gateway:

        def attempt(number: int) -> tuple[int, str]:
            with sealed(engine, images, owner, gateway) as (sandbox, hook):
                assert not tokens or asked(sandbox, tokens[0]) == "401"
                tokens.append(hook.token)
                status = asked(sandbox, hook.token, f"attempt {number}")
            assert hook.closed is not None and status == "200"
            lines = read_trace(store, hook.closed.trace)
            return hook.closed.traffic.requests, store.get(lines[-1].sent.digest).decode()

        with ThreadPoolExecutor(3) as pool:
            for number, (requests, body) in enumerate(pool.map(attempt, range(5))):
                assert requests == 1 and f"attempt {number}" in body
        left = gateway.container.engine.api.exec_create(gateway.container.id, ["find", "/run/doors", "/workspace"])
        found = engine.api.exec_start(left["Id"]).decode().split()
        assert not [one for one in found if one.endswith((".sock", ".jsonl")) or "sha256" in one]
    assert len(set(tokens)) == 5


def test_keys_are_in_nothing_that_can_be_inspected(
    engine: Engine, gateway_image: str, owner: str, tmp_path: Path
) -> None:
    with opened(engine, gateway_image, owner, tmp_path) as gateway:
        door = gateway.open(Access(upstream=NOWHERE, apis=(Api.CHAT,), models=("m",)), key="sk-other-0123456789")
        seen = json.dumps(engine.api.inspect_container(gateway.container.id)) + repr(gateway)
        seen += str(engine.api.top(gateway.container.id))
        made = engine.api.exec_create(gateway.container.id, ["sh", "-c", "cat /proc/1/environ /proc/1/cmdline"])
        seen += engine.api.exec_start(made["Id"]).decode()
        assert "harness.gateway" in seen and KEY not in seen and "sk-other" not in seen and door.token not in seen
        gateway.close(door)
        with pytest.raises(InfraError, match="closed already"):
            gateway.close(door)


def test_one_that_dies_is_noticed(engine: Engine, gateway_image: str, owner: str, tmp_path: Path) -> None:
    with opened(engine, gateway_image, owner, tmp_path, doors=1) as gateway:
        engine.api.kill(gateway.container.id)
        until = time.monotonic() + 60
        while gateway.alive and time.monotonic() < until:
            time.sleep(0.05)
        with pytest.raises(InfraError, match="it died"):
            gateway.open(Access(upstream=NOWHERE, apis=(Api.CHAT,), models=("m",)))


HELD = """
import sys, time
from pathlib import Path
from harness.engine.connect import connect
from harness.gateway.apart import ContainerGateway
with connect() as engine:
    gateway = ContainerGateway(engine, sys.argv[1], sys.argv[2], Path(sys.argv[3]), {}, doors=1, network="none")
    print(gateway.container.id, flush=True)
    time.sleep(600)
"""


def test_a_killed_run_leaves_a_gateway_that_ends_and_that_the_next_run_removes(
    engine: Engine, gateway_image: str, owner: str, tmp_path: Path
) -> None:
    run = subprocess.Popen([sys.executable, "-c", HELD, gateway_image, owner, str(tmp_path)], stdout=subprocess.PIPE)
    assert run.stdout is not None
    container = run.stdout.readline().decode().strip()
    run.kill()
    run.wait()
    run.stdout.close()
    until = time.monotonic() + 60
    while engine.api.inspect_container(container)["State"]["Running"] and time.monotonic() < until:
        time.sleep(0.1)
    assert not engine.api.inspect_container(container)["State"]["Running"]
    assert reap(engine, owner) == 3  # itself, its door, its store


def test_the_settings_may_ask_for_a_container_too(engine: Engine, tmp_path: Path) -> None:
    here = Entrance(engine, State(tmp_path), cast("Progress", None), 1)
    assert (here.apart, here.mode) == (False, ExecutionMode.SEALED)
    (tmp_path / "config.toml").write_text("[gateway]\ncontainer = true\n")
    assert (here.apart, here.mode) == (True, ExecutionMode.SEALED_VM_ENGINE)
    (tmp_path / "config.toml").write_text('[gateway]\ncontainer = "maybe"\n')
    with pytest.raises(UserError, match=r"gateway\.container"):
        _ = here.apart


@pytest.mark.timeout(600)
def test_a_run_on_an_engine_with_a_kernel_of_its_own(engine: Engine, tmp_path: Path) -> None:
    """The whole command, by way of a TCP port: it can't be known whose kernel is behind one."""
    home = tmp_path / "home"
    with relayed(engine.info.address.removeprefix("unix:")) as address:
        ran = trialbox(
            home, "run", "functions", "--limit", "1", "--solver", "worker:model=m", "--json", DOCKER_HOST=address
        )
    assert ran.code == 0, ran.err
    (figures,) = ran.json["solvers"].values()
    assert figures["solved"] == figures["planned"] == 1
    ledger = Ledger(home / "ledger.db")
    (one,) = ledger.tries(ran.json["run"])
    record = from_json(AttemptRecord, LocalStore(home / "blobs").get(one.record.digest))
    assert record.mode is ExecutionMode.SEALED_VM_ENGINE and record.solve is not None
    assert record.solve.seal.source is SealSource.CONTAINER
    assert record.traffic is not None and record.traffic.requests == 1 and record.traffic.usage.stated == 1300
    assert reap(engine, State(home).owner) == 0, "left behind in the engine"
