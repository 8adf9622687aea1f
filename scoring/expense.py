"""What a solver's tries took, task by task and in each currency: joules, dollars, tokens, seconds.

Every try counts, repeated and abandoned ones included. One part that is not known makes the total unknown; what is
known stands beside it, with how many tries that is. Figures of different kinds, such as those of two meters, never
mix: each expense names its ``group``, and only expenses of one group compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from harness.energy.records import EnergyRecord, Signed
from harness.energy.totals import total_energy
from harness.evidence import AttemptRecord
from harness.gateway.access import Billing
from harness.gateway.records import Completeness
from harness.records import Count, ExecutionMode, Record, SolverRef
from scoring.cost import attempt_cost, basis_of
from scoring.evidence import Evidence, TryEvidence
from scoring.figures import by_task
from scoring.model_use import ran


class Axis(StrEnum):
    """A currency."""

    JOULES = "joules"
    DOLLARS = "dollars"
    TOKENS = "tokens"
    WALL = "wall"
    """Seconds of the solver's own runs, summed; attempts may overlap."""


@dataclass(frozen=True)
class Part:
    """What one try took, None where that is not known."""

    task: str
    value: Fraction | None


@dataclass(frozen=True)
class Expense:
    """All that a solver took in one currency. ``reason`` says why it may not be ranked; empty where it may."""

    axis: Axis
    group: str
    parts: tuple[Part, ...]
    reason: str

    @property
    def covered(self) -> int:
        """Tries whose part is known."""
        return sum(one.value is not None for one in self.parts)

    @property
    def at_least(self) -> Fraction:
        """The sum of what is known."""
        return sum((one.value for one in self.parts if one.value is not None), Fraction())

    def by_task(self) -> dict[str, Fraction]:
        """The known sum of each task."""
        grouped = by_task((one.task, one.value or Fraction()) for one in self.parts)
        return {task: sum(values, Fraction()) for task, values in grouped.items()}


class Total(Record):
    """A sum over tries: null with any part missing, and then with what it is at least. In the unit of its field."""

    total: Signed | None
    reason: str = ""
    at_least: Signed
    covered: Count
    of: Count


def total(one: Expense, scale: int = 1) -> Total:
    """The sum of an expense in units of 1/scale."""
    whole = one.covered == len(one.parts) and bool(one.parts)
    known = round(one.at_least * scale)
    missing = "" if whole else f"{len(one.parts) - one.covered} of {len(one.parts)} tries are not known to the end"
    reason = missing if one.parts else "no try ran"
    return Total(total=known if whole else None, reason=reason, at_least=known, covered=one.covered, of=len(one.parts))


def expense(evidence: Evidence, solver: SolverRef, axis: Axis) -> Expense | None:
    """What a solver took; None where the currency does not apply to it: tokens and dollars without a model."""
    match axis:
        case Axis.JOULES:
            return _joules(evidence, solver)
        case Axis.WALL:
            return _wall(evidence, solver)
        case Axis.TOKENS:
            return _tokens(evidence, solver)
        case Axis.DOLLARS:
            return _dollars(evidence, solver)
        case _:
            assert_never(axis)


def _joules(evidence: Evidence, solver: SolverRef) -> Expense:
    tries = [one for one in evidence.of_solver(solver.name) if not idle(evidence.record_of(one))]
    records = [energy_of(evidence.record_of(one)) for one in tries]
    parts = tuple(
        Part(one.cell.task, None if record is None or record.active_uj is None else Fraction(record.active_uj, 10**6))
        for one, record in zip(tries, records, strict=True)
    )
    return Expense(Axis.JOULES, _kind(records, solver), parts, total_energy(records, 0).reason or "")


def _kind(records: Sequence[EnergyRecord | None], solver: SolverRef) -> str:
    """What energies must share to be compared: provenance, zones, host, scope, and whether the model's are in it."""
    model = "no model"
    if solver.billing is not None:
        model = "model on this host" if Billing(solver.billing) is Billing.LOCAL else "model elsewhere, not in it"
    kinds = {
        f"{one.provenance.value} {one.zone_set}, {one.scope}, host {one.host_fingerprint[7:19]}"
        + ("" if one.estimator_watts is None else f", {one.estimator_watts} W assumed")
        for one in records
        if one is not None
    }
    return f"{next(iter(kinds))}, {model}" if len(kinds) == 1 else "of several kinds" if kinds else "not measured"


def _wall(evidence: Evidence, solver: SolverRef) -> Expense:
    tries = [one for one in evidence.of_solver(solver.name) if not idle(evidence.record_of(one))]
    parts = tuple(Part(one.cell.task, _seconds(evidence.record_of(one))) for one in tries)
    return Expense(Axis.WALL, "seconds of the solver", parts, _incomplete(parts))


def _seconds(record: AttemptRecord | None) -> Fraction | None:
    return None if record is None or record.solve is None else Fraction(record.solve.wall_us, 10**6)


def _tokens(evidence: Evidence, solver: SolverRef) -> Expense | None:
    if solver.billing is None:
        return None

    def stated(one: TryEvidence) -> Fraction | None:
        record = evidence.record_of(one)
        if record is None or record.traffic is None:
            return None
        used = record.traffic.usage
        return Fraction(used.stated) if used.completeness is Completeness.COMPLETE else None

    parts = _of_model(evidence, solver, stated)
    return Expense(Axis.TOKENS, "tokens of every kind", parts, _incomplete(parts))


def _dollars(evidence: Evidence, solver: SolverRef) -> Expense | None:
    if solver.billing is None or evidence.prices is None:
        return None
    table, basis = evidence.prices, basis_of(Billing(solver.billing))

    def spent(one: TryEvidence) -> Fraction | None:
        used = None if one.record is None else evidence.used.get(one.record.digest)
        usd = None if used is None else attempt_cost(table, used, basis).usd
        return None if usd is None else Fraction(usd)

    parts = _of_model(evidence, solver, spent)
    return Expense(Axis.DOLLARS, basis.value, parts, _incomplete(parts))


def _of_model(
    evidence: Evidence, solver: SolverRef, value: Callable[[TryEvidence], Fraction | None]
) -> tuple[Part, ...]:
    tries = [one for one in evidence.of_solver(solver.name) if ran(evidence, one)]
    return tuple(Part(one.cell.task, value(one)) for one in tries)


def _incomplete(parts: Sequence[Part]) -> str:
    lost = sum(one.value is None for one in parts)
    if not parts:
        return "no try ran"
    return f"{lost} of {len(parts)} tries are not known to the end" if lost else ""


def energy_of(record: AttemptRecord | None) -> EnergyRecord | None:
    """The energy of a try's solver, None where nothing is known of it."""
    return record.solve.energy if record is not None and record.solve is not None else None


def idle(record: AttemptRecord | None) -> bool:
    """Whether a try drew nothing and took no time: its solver never ran. Of a patch made elsewhere that is not
    known."""
    return record is not None and record.solve is None and record.mode is not ExecutionMode.FOREIGN_PATCH
