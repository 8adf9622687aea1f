"""Claude Code and Codex, for real, whose provider fails: each ends as docs/outcomes.md says, whatever it tries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.gateway.records import Completeness
from harness.gateway.scripted.script import ALWAYS, FaultKind, FaultSpec
from harness.gateway.scripted.tasks import script_for
from harness.gateway.settings import Settings
from harness.outcomes import Outcome, in_denominator
from tests.agents_rig import AgentRig, agent_rig, equipped, smoke_task

pytestmark = [pytest.mark.engine, pytest.mark.chaos, pytest.mark.timeout(1800)]  # the first use builds the bundle

WALL_S = 25
STAYS = {
    FaultKind.RATE_LIMITED: (Outcome.ERRORED, "rate_limited"),
    FaultKind.PAYMENT_REQUIRED: (Outcome.ERRORED, "status_402"),
    FaultKind.SERVER_ERROR: (Outcome.ERRORED, "server_error"),
    FaultKind.OVERLOADED: (Outcome.ERRORED, "server_error"),
    FaultKind.UNAUTHORIZED: (Outcome.UNAVAILABLE, "key"),
    FaultKind.UNKNOWN_MODEL: (Outcome.UNAVAILABLE, "model"),
}
"""Faults that excuse an attempt which they outlast. An agent that still tries when its time is over is excused too."""
COUNTS = (FaultKind.CUT, FaultKind.MALFORMED, FaultKind.WRONG_TYPE, FaultKind.SILENCE)


@pytest.fixture
def rig(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Iterator[AgentRig]:
    with agent_rig(engine, images, tmp_path, owner, Settings(idle_s=5, drain_s=5)) as rig:
        yield rig


def spec(kind: FaultKind, times: int) -> FaultSpec:
    waits = {"wait_ms": 60_000} if kind is FaultKind.SILENCE else {}
    return FaultSpec.model_validate({"kind": kind, "times": times, **waits})


@pytest.mark.parametrize("kind", [*STAYS, *COUNTS])
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_fault_that_stays(rig: AgentRig, engine: Engine, name: str, kind: FaultKind) -> None:
    (solver,) = equipped(engine, name)
    task = smoke_task("bead-string", wall_s=WALL_S)
    script = script_for(task)
    turns = tuple(turn.model_copy(update={"fault": spec(kind, ALWAYS)}) for turn in script.turns)
    record = rig.run(solver, task, script.model_copy(update={"turns": turns})).record
    expected = STAYS.get(kind)
    assert record.traffic is not None
    if expected is not None:
        outcome, fault = expected
        assert record.outcome is outcome, record.reason
        assert record.kind in {fault, "circuit_open"}  # an agent that tries often enough finds the circuit open
        assert record.traffic.usage.stated == 0
        assert record.traffic.usage.completeness is Completeness.COMPLETE
    else:
        assert record.outcome in {Outcome.FAILED, Outcome.TIMEOUT}, record.reason
        assert record.traffic.usage.completeness is not Completeness.COMPLETE
    assert in_denominator(record.outcome) is (expected is None)
    assert record.reason


@pytest.mark.parametrize("kind", [FaultKind.OVERLOADED, FaultKind.CUT])
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_fault_that_passes_costs_nothing_but_time(rig: AgentRig, engine: Engine, name: str, kind: FaultKind) -> None:
    (solver,) = equipped(engine, name)
    task = smoke_task("bead-string")
    script = script_for(task)
    first, *rest = script.turns
    turns = (first.model_copy(update={"fault": spec(kind, 1)}), *rest)
    record = rig.run(solver, task, script.model_copy(update={"turns": turns})).record
    assert record.outcome is Outcome.SOLVED, record.reason
    assert record.traffic is not None
    assert record.traffic.faults and record.traffic.outlasting is None
