"""A run, audited: each try that left a record, and by solver the board of passed or not, clean or contaminated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from audits.attempt import audit_attempt
from audits.basis import TaskBasis
from audits.grounds import Surroundings
from audits.overlap import calibrated
from audits.records import (
    Access,
    AttemptAudit,
    Axis,
    Board,
    Citation,
    Fact,
    Finding,
    Kind,
    RunAudit,
    Source,
    State,
    attack,
    standing,
)
from harness.evidence import AttemptRecord
from harness.outcomes import Outcome, in_denominator
from harness.records import BlobRef, Plan, RunMode
from harness.solvers.manifest import DriverKind
from harness.store import Store

_MAX_NONCES = 48
_SCRIPTED = {one.value for one in DriverKind if one.scripted}


@dataclass(frozen=True)
class Tried:
    """A try that left a record; ``final`` is the one that ended its cell."""

    digest: str
    record: AttemptRecord
    final: bool


def audit_run(
    plan: Plan,
    tries: Sequence[Tried],
    store: Store,
    bases: Mapping[str, tuple[TaskBasis, BlobRef]],
    report: Callable[[AttemptRecord], None] = lambda _: None,
) -> RunAudit:
    """Audit all tries of a run.

    Args:
        plan: the run's plan.
        tries: every try with a record, in the ledger's order.
        store: where their blobs are.
        bases: what each task gives to look for, and where that is kept, by task; one that is not there is a gap.
        report: is told of each record before it is audited.
    """
    solvers = {one.name: one for one in plan.solvers}
    nonces = _nonces(tries)
    seen: list[AttemptAudit] = []
    seeds: dict[str, frozenset[int]] = {}
    for one in tries:
        record = one.record
        report(record)
        task, solver = record.cell.task, solvers.get(record.cell.solver)
        basis = bases.get(task)
        about = Surroundings(
            solver=solver,
            basis=basis[0] if basis else None,
            nonces=tuple(nonces.get(task, {}).items()),
            rehearsed=plan.mode is RunMode.DRY,
            seeds=seeds,
        )
        seen.append(audit_attempt(record, one.digest, store, about))
    scripted = {name for name, ref in solvers.items() if ref.kind in _SCRIPTED} | (
        set(solvers) if plan.mode is RunMode.DRY else set()
    )
    judged = tuple(_judged(one, seen, scripted) for one in seen)
    finals = {one.digest for one in tries if one.final}
    return RunAudit(
        plan=plan.id,
        attempts=judged,
        boards={
            name: board_of([one for one in judged if one.cell.solver == name and one.record in finals])
            for name in solvers
        },
        bases={task: ref for task, (_, ref) in bases.items()},
    )


def board_of(attempts: Sequence[AttemptAudit]) -> Board:
    """The board of those attempts that count."""
    counts = dict.fromkeys(Board.model_fields, 0)
    for one in attempts:
        if not in_denominator(one.outcome):
            continue
        word = "pass" if one.outcome is Outcome.SOLVED else "fail"
        counts[f"{word}_{standing(one)}"] += 1
        counts["attempted"] += any(attack(axis.found) for axis in one.axes.values())
    return Board(**counts)


def _nonces(tries: Sequence[Tried]) -> dict[str, dict[str, str]]:
    """The marks of each task's gradings, the base's own among them: material of one may have got into another's try."""
    found: dict[str, dict[str, str]] = {}
    for one in tries:
        record = one.record
        marks = found.setdefault(record.cell.task, {})
        for name, stage in (("baseline", record.baseline), (f"grading of {record.cell.key}", record.grade)):
            if stage is not None and len(stage.nonce) == 32 and len(marks) < _MAX_NONCES:
                marks.setdefault(f"nonce of the {name}", stage.nonce)
    return found


def _judged(audit: AttemptAudit, seen: Sequence[AttemptAudit], scripted: set[str]) -> AttemptAudit:
    """The same, its overlap calibrated by the other solvers' solutions of the task.

    One that is too high is a flag; where something was exposed as well, it was retrieved.
    """
    if audit.overlap is None or audit.cell.solver in scripted:
        return audit
    others = [one.overlap.containment for one in _others(audit, seen, scripted) if one.overlap is not None]
    found = calibrated(audit.overlap, others)
    if not found.flagged or Axis.FILESYSTEM not in audit.axes:
        return audit.model_copy(update={"overlap": found})
    exposed = next((axis for axis in (Axis.FILESYSTEM, Axis.WEB) if audit.axes[axis].found is State.EXPOSED), None)
    axis = exposed or Axis.FILESYSTEM
    finding = Finding(
        axis=axis,
        kind=Kind.HIGH_OVERLAP,
        fact=Fact.FLAG if exposed is None else Fact.USE,
        detail=f"{found.containment} of the reference's five-grams; others at most {found.threshold}",
        cites=(Citation(source=Source.PATCH, at="capture.manifest"),),
    )
    update: dict[str, object] = {"findings": (*audit.axes[axis].findings, finding)}
    if exposed is not None:  # what was had is in the change: more than either says alone
        update |= {"state": State.RETRIEVED, "found": State.RETRIEVED, "kind": Kind.HIGH_OVERLAP}
    axes = {**audit.axes, axis: audit.axes[axis].model_copy(update=update)}
    access = audit.access if exposed is None else Access.USED
    return audit.model_copy(update={"overlap": found, "axes": axes, "access": access})


def _others(audit: AttemptAudit, seen: Sequence[AttemptAudit], scripted: set[str]) -> Iterator[AttemptAudit]:
    """Clean solutions of the same task by solvers that are neither this one nor scripted."""
    for one in seen:
        other = one.cell.solver not in {audit.cell.solver, *scripted} and one.cell.task == audit.cell.task
        if other and one.outcome is Outcome.SOLVED and standing(one) == "clean":
            yield one
