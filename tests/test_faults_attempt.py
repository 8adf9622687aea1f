"""Attempts in real containers whose provider fails, or whose agent misbehaves: each ends as docs/outcomes.md says.

The agent is a few lines of Python that a manifest brings, which is all that a solver is; its provider is the scripted
one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.gateway.access import Access, Budget, Upstream
from harness.gateway.client import Gateway
from harness.gateway.hook import GatewayHook
from harness.gateway.providers import scripted
from harness.gateway.records import Api, Completeness, Fault
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.script import ALWAYS, Dialect, FaultKind, FaultSpec, Script, Turn
from harness.gateway.upstream import Settings
from harness.outcomes import Outcome, in_denominator
from harness.records import Coverage
from harness.solvers.manifest import DriverKind, Manifest
from tests.attempt_rig import GOOD, LIMITS, Rig, make_rig, small_task

pytestmark = [pytest.mark.engine, pytest.mark.slow]

AGENT = """
import json, os, subprocess, sys, time, urllib.error, urllib.request
base, model = sys.argv[1:3]
def ask(tries=1, model=model, path="/v1/chat/completions", key=os.environ["AGENT_KEY"], **more):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "go"}], **more}).encode()
    headers = {"authorization": "Bearer " + key, "content-type": "application/json"}
    status = 0
    for _ in range(tries):
        request = urllib.request.Request(base + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status = answer.status
                json.loads(answer.read())
                return status
        except urllib.error.HTTPError as error:
            status = error.code
            error.read()
        except (OSError, ValueError):
            pass
    return status
def fix():
    open("pkg/words.py", "w").write(GOOD)
"""
WALL_S = 12


@dataclass
class Room:
    """A gateway and a provider for attempts of such agents."""

    rig: Rig
    gateway: Gateway
    provider: ScriptedProvider
    hooks: list[GatewayHook]

    def run(
        self,
        code: str,
        fault: FaultSpec | None = None,
        *,
        refuse: bool = False,
        key: str | None = None,
        budget: Budget | None = None,
        upstream: Upstream | None = None,
        model: str = "m",
    ) -> AttemptRecord:
        """One attempt of an agent that does *code*."""
        turn = Turn(say="no" if refuse else "well", refuse=refuse, done=not refuse, fault=fault)
        good = self.provider.add(Script(dialect=Dialect.REPLY, models=("m",), turns=(turn,)))
        where = upstream or scripted(self.provider.url)
        access = Access(upstream=where, apis=(Api.CHAT,), models=(model,), budget=budget or Budget())
        self.hooks[:] = [GatewayHook(self.gateway, access, key=key or good)]
        program = AGENT.replace("GOOD", repr(GOOD)) + textwrap.dedent(code)
        manifest = Manifest(
            name="probe",
            driver=DriverKind.CLI,
            argv=("python3", "-c", program, "{base_url}", "{model}"),
            api=Api.CHAT,
            model=model,
            key_env=("AGENT_KEY",),
        )
        return self.rig.run(manifest, task=small_task(LIMITS.model_copy(update={"wall_s": WALL_S})))


@pytest.fixture
def room(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Iterator[Room]:
    hooks: list[GatewayHook] = []
    rig = make_rig(engine, images, tmp_path, owner, lambda _: tuple(hooks))
    patience = Settings(idle_s=2, drain_s=5, breaker_faults=5, breaker_pause_ms=60_000)
    with Gateway(tmp_path / "blobs", tmp_path / "run", {}, patience) as gateway, ScriptedProvider() as provider:
        yield Room(rig, gateway, provider, hooks)


def always(kind: FaultKind, **more: int) -> FaultSpec:
    return FaultSpec.model_validate({"kind": kind, "times": ALWAYS, **more})


@pytest.mark.parametrize(
    ("fault", "outcome", "kind", "seen"),
    [
        (always(FaultKind.RATE_LIMITED), Outcome.ERRORED, "rate_limited", Fault.RATE_LIMITED),
        (always(FaultKind.RATE_LIMITED, retry_after_s=1), Outcome.ERRORED, "rate_limited", Fault.RATE_LIMITED),
        (always(FaultKind.PAYMENT_REQUIRED), Outcome.ERRORED, "status_402", Fault.STATUS_402),
        (always(FaultKind.SERVER_ERROR), Outcome.ERRORED, "server_error", Fault.SERVER_ERROR),
        (always(FaultKind.OVERLOADED), Outcome.ERRORED, "server_error", Fault.SERVER_ERROR),
        (always(FaultKind.UNAUTHORIZED), Outcome.UNAVAILABLE, "key", None),
        (always(FaultKind.UNKNOWN_MODEL), Outcome.UNAVAILABLE, "model", None),
        (always(FaultKind.CUT), Outcome.SOLVED, "", Fault.CUT_STREAM),
        (always(FaultKind.MALFORMED), Outcome.SOLVED, "", Fault.MALFORMED),
        (always(FaultKind.WRONG_TYPE), Outcome.SOLVED, "", Fault.MALFORMED),
        (always(FaultKind.SILENCE, wait_ms=4000), Outcome.SOLVED, "", Fault.TIMEOUT),
        (always(FaultKind.SLOW, wait_ms=50), Outcome.SOLVED, "", None),
    ],
    ids=lambda value: value.kind.value if isinstance(value, FaultSpec) else None,
)
def test_a_fault_that_stays(room: Room, fault: FaultSpec, outcome: Outcome, kind: str, seen: Fault | None) -> None:
    """The agent does the work whatever its provider says, so that what excuses it is not the missing work."""
    record = room.run("ask(tries=2); fix()", fault)
    assert (record.outcome, record.kind) == (outcome, kind), record.reason
    assert record.traffic is not None
    assert record.traffic.outlasting is seen
    assert bool(record.reason) is (outcome is not Outcome.SOLVED or seen is not None)
    assert (record.grade is not None) is in_denominator(outcome)
    assert record.traces[0].coverage is Coverage.FULL
    if outcome is not Outcome.SOLVED:
        assert record.traffic.usage.stated == 0 and record.traffic.usage.completeness is Completeness.COMPLETE
    elif seen is not None:
        assert record.traffic.usage.completeness is not Completeness.COMPLETE


@pytest.mark.parametrize(
    "kind",
    [FaultKind.RATE_LIMITED, FaultKind.PAYMENT_REQUIRED, FaultKind.OVERLOADED, FaultKind.UNAUTHORIZED, FaultKind.CUT],
)
def test_a_fault_that_passes_changes_nothing(room: Room, kind: FaultKind) -> None:
    record = room.run("assert ask(tries=3) == 200; fix()", FaultSpec(kind=kind, times=1))
    assert (record.outcome, record.kind) == (Outcome.SOLVED, ""), record.reason
    assert record.traffic is not None and record.traffic.outlasting is None
    assert record.traffic.requests == 2


def test_nobody_there(room: Room) -> None:
    record = room.run("ask(tries=2); fix()", upstream=scripted("http://127.0.0.1:1"))
    assert (record.outcome, record.kind) == (Outcome.ERRORED, "connection")


def test_an_open_circuit(room: Room) -> None:
    record = room.run("ask(tries=8); fix()", upstream=scripted("http://127.0.0.1:1", "down"))
    assert (record.outcome, record.kind) == (Outcome.ERRORED, "circuit_open")


def test_a_key_that_is_not_known(room: Room) -> None:
    record = room.run("ask(); fix()", key="sk-wrong-4711")
    assert (record.outcome, record.kind) == (Outcome.UNAVAILABLE, "key")
    assert "401" in record.reason and "sk-wrong" not in record.model_dump_json()


def test_a_model_that_declines_and_leaves_nothing(room: Room) -> None:
    assert room.run("ask()", refuse=True).outcome is Outcome.REFUSED
    assert room.run("ask(); fix()", refuse=True).outcome is Outcome.SOLVED, "there is work of it"


@pytest.mark.parametrize(
    ("code", "outcome", "kind", "said"),
    [
        ("ask(); sys.exit(3)", Outcome.FAILED, "", "the solver ended with status 3"),
        ("ask(); fix(); sys.exit(3)", Outcome.SOLVED, "", "the solver ended with status 3"),
        ("os.abort()", Outcome.FAILED, "", "it asked no model anything"),
        ("", Outcome.FAILED, "", "it asked no model anything"),
        ("ask(); fix(); sys.stdin.read(); input('sure? ')", Outcome.SOLVED, "", "the solver ended with status 1"),
        ("ask(); fix(); os.read(os.pipe()[0], 1)", Outcome.TIMEOUT, "wall", ""),  # waits for an input that never comes
        ("while True: ask()", Outcome.TIMEOUT, "wall", ""),
        ("ask(); fix(); open('/etc/mine', 'w')", Outcome.SOLVED, "", "the solver ended with status 1"),
        ("ask(); open('/tmp/words.py', 'w').write('x')", Outcome.FAILED, "", ""),
        (
            "ask(); fix(); subprocess.Popen([sys.executable, '-m', 'http.server', '8099'], start_new_session=True)",
            Outcome.SOLVED,
            "",
            "of its processes still ran and were killed",
        ),
        ("ask(model='another'); fix()", Outcome.SOLVED, "", "each of its 1 requests was denied"),
        ("ask(key='guessed'); fix()", Outcome.SOLVED, "", "each of its 1 requests was denied"),
        ("ask(path='/v1/files'); fix()", Outcome.SOLVED, "", "each of its 1 requests was denied"),
    ],
)
def test_what_an_agent_may_do(room: Room, code: str, outcome: Outcome, kind: str, said: str) -> None:
    record = room.run(code)
    assert (record.outcome, record.kind) == (outcome, kind), record.reason
    assert in_denominator(record.outcome), "whatever it does, it counts"
    assert said in record.reason
    assert bool(said) is bool(record.reason)


def test_a_spent_budget(room: Room) -> None:
    record = room.run("fix(); assert ask() == 200; assert ask() == 200; ask(tries=3)", budget=Budget(requests=2))
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "budget")
    assert record.grade is not None and all(one.passed for one in record.grade.verdicts), "what it left is graded"
    assert record.traffic is not None and record.traffic.requests == 2
