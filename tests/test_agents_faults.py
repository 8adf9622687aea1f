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


def spec(kind: FaultKind, times: int | str, **more: int) -> FaultSpec:
    waits = {"wait_ms": 60_000} if kind is FaultKind.SILENCE else {}
    return FaultSpec.model_validate({"kind": kind, "times": times, **waits, **more})


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


# Codex gives up at a rate limit that does not say when to come again: that one is among the faults that stay.
PASSES = (
    pytest.param(spec(FaultKind.OVERLOADED, 1), id="overloaded"),
    pytest.param(spec(FaultKind.CUT, 1), id="cut"),
    pytest.param(spec(FaultKind.RATE_LIMITED, 1, retry_after_s=1), id="a rate limit that says when"),
    pytest.param(spec(FaultKind.SERVER_ERROR, 1), id="server error"),
)


@pytest.mark.parametrize("fault", PASSES)
@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_fault_that_passes_costs_nothing_but_time(rig: AgentRig, engine: Engine, name: str, fault: FaultSpec) -> None:
    (solver,) = equipped(engine, name)
    task = smoke_task("bead-string")
    script = script_for(task)
    first, *rest = script.turns
    turns = (first.model_copy(update={"fault": fault}), *rest)
    record = rig.run(solver, task, script.model_copy(update={"turns": turns})).record
    assert record.outcome is Outcome.SOLVED, record.reason
    assert record.traffic is not None
    assert record.traffic.faults and record.traffic.outlasting is None


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_slow_answer_is_no_fault(rig: AgentRig, engine: Engine, name: str) -> None:
    (solver,) = equipped(engine, name)
    task = smoke_task("bead-string")
    script = script_for(task)
    turns = tuple(one.model_copy(update={"fault": spec(FaultKind.SLOW, ALWAYS, wait_ms=100)}) for one in script.turns)
    record = rig.run(solver, task, script.model_copy(update={"turns": turns})).record
    assert record.outcome is Outcome.SOLVED, record.reason
    assert record.traffic is not None and not record.traffic.faults
    assert record.traffic.usage.completeness is Completeness.COMPLETE


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_provider_that_is_down_is_not_the_agents_failure(rig: AgentRig, engine: Engine, name: str) -> None:
    (solver,) = equipped(engine, name)
    rig.provider.__exit__(None, None, None)  # whoever leaves the rig may end it again
    record = rig.run(solver, smoke_task("bead-string", wall_s=WALL_S)).record
    assert (record.outcome, record.kind in {"connection", "circuit_open"}) == (Outcome.ERRORED, True), record.reason
    assert record.traffic is not None and record.traffic.usage.stated == 0
    assert not in_denominator(record.outcome)
