"""What an attempt left, in others' formats: its change as a prediction, its course as an ATIF trajectory."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.evidence import AttemptRecord, SolveRecord
from harness.records import Coverage, SolverRef
from harness.solvers.transcripts import kind_of
from harness.store import Store
from harness.suites.foreign import atif
from harness.suites.foreign.predictions import Prediction
from harness.trajectories import convert
from harness.untrusted import clean_text

_SHOWN = 1 << 20
_TWO_STEPS = "The solver's output is given as one message: its own turns are not recorded here."


@dataclass(frozen=True)
class Left:
    """One planned cell's last attempt, and whose task it was: the id that predictions go by."""

    record: AttemptRecord
    solver: SolverRef
    instance: str


def to_predictions(left: Iterable[Left], store: Store) -> tuple[tuple[Prediction, ...], tuple[str, ...]]:
    """The changes as patches, and, one line each, those that a patch can't say.

    Of several attempts the one that comes first in *left* is taken: a prediction is one for each instance and model.

    Raises:
        VerifyError: a blob is missing or changed.
    """
    made: dict[tuple[str, str], Prediction] = {}
    lost: list[str] = []
    for one in left:
        cell = one.record.cell
        if (one.solver.name, one.instance) in made:
            taken = made[one.solver.name, one.instance].where
            lost.append(f"{cell.key}: one attempt alone is exported, {taken}")
            continue
        patch = _patch(one.record, store)
        if any(line.startswith(("Binary files differ:", "Large files differ:")) for line in patch.splitlines()):
            lost.append(f"{cell.key}: its change holds files that a text patch can't; the patch won't apply")
        made[one.solver.name, one.instance] = Prediction(cell.key, one.instance, one.solver.name, patch)
    return tuple(made.values()), tuple(lost)


def _patch(record: AttemptRecord, store: Store) -> str:
    capture = record.capture
    if capture is None or capture.patch is None or capture.manifest is None:
        return ""
    return store.get(capture.patch.digest).decode()


def to_trajectory(one: Left, prompt: str, store: Store) -> tuple[atif.Trajectory, str]:
    """The course of one attempt, and what of it is not carried (empty if all is).

    An agent's own transcript gives its turns and tool calls. Without one, or with one that can't be read, there are two
    steps: the prompt, and what the solver printed.

    Raises:
        VerifyError: a blob is missing or changed.
        ValueError: there was no solver's run, so that there is nothing to tell.
    """
    record, solve = one.record, one.record.solve
    if solve is None:
        raise ValueError(f"{record.cell.key}: no solver ran")
    agent = atif.Agent(
        name=one.solver.name,
        version=one.solver.harness_version,
        model_name=None if one.solver.model == "unknown" else one.solver.model,
    )
    kind = kind_of(solve.transcript.media_type) if solve.transcript else None
    if solve.transcript is not None and kind is not None:
        found = convert(kind, store.get(solve.transcript.digest), agent, prompt=prompt)
        if found.trajectory is not None:
            lacking = "" if found.coverage is Coverage.FULL else found.reason
            return _told(found.trajectory, one, lacking), f"steps: {lacking}" if lacking else ""
    made = _in_two_steps(one.solver, agent, prompt, _lines(store.get(solve.stdout.digest)), solve)
    return _told(made, one, _TWO_STEPS), "steps: the solver's own turns and tool calls are not recorded"


def _told(course: atif.Trajectory, one: Left, notes: str) -> atif.Trajectory:
    """A trajectory with what the record says of the attempt; the agent's own session id is beside the cell's name."""
    record = one.record
    totals = course.final_metrics or atif.FinalMetrics(total_steps=len(course.steps))
    return course.model_copy(
        update={
            "session_id": record.cell.key,
            "notes": notes or None,
            "final_metrics": totals.model_copy(update={"extra": _measured(record)}),
            "extra": {
                "task": one.instance,
                "outcome": record.outcome.value,
                "kind": record.kind,
                "plan": record.plan,
                "attempt_try": record.attempt_try,
                "output_dropped": record.solve.output_dropped if record.solve else None,
                "agent_session_id": course.session_id,
            },
        }
    )


def _in_two_steps(solver: SolverRef, agent: atif.Agent, prompt: str, said: str, solve: SolveRecord) -> atif.Trajectory:
    """What was asked, and what was printed: nobody here sees into a solver."""
    started = datetime.datetime.fromtimestamp(solve.started_us / 10**6, datetime.UTC)
    ended = started + datetime.timedelta(microseconds=solve.wall_us)
    asks_nobody = solver.provider is None and solver.kind not in {"command", "service"}
    return atif.Trajectory(
        schema_version=atif.VERSION,
        agent=agent,
        steps=(
            atif.Step(step_id=1, timestamp=started.isoformat(), source="user", message=prompt),
            atif.Step(
                step_id=2,
                timestamp=ended.isoformat(),
                source="agent",
                message=said,
                llm_call_count=0 if asks_nobody else None,
            ),
        ),
        final_metrics=atif.FinalMetrics(total_steps=2),
    )


def _measured(record: AttemptRecord) -> Mapping[str, object]:
    """Energy and time; tokens are what ATIF has fields for, and unknown stays null there."""
    solve = record.solve
    if solve is None:
        return {}
    return {
        "wall_us": solve.wall_us,
        "energy_active_uj": solve.energy.active_uj,
        "energy_provenance": solve.energy.provenance.value,
        "energy_reliable": solve.energy.reliable,
        "energy_scope": solve.energy.scope,
    }


def _lines(said: bytes) -> str:
    """Text of a candidate's, with its lines, and nothing in them that drives a terminal or a page."""
    text = said[:_SHOWN].decode("utf-8", "replace")
    return "\n".join(clean_text(line, _SHOWN) for line in text.split("\n"))
