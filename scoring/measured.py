"""Measured values of a run: energy, time, resources. They stand beside the core and need not reproduce.

Energies are integer microjoules of the host over its idle draw, around the solver alone. Every try of a cell is paid
for: those that were repeated and those that died with their process too, whose share nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from harness.energy.records import EnergyFlag, EnergyRecord, Provenance, Signed, in_order, weakest
from harness.engine.cgroup import ResourceUse
from harness.evidence import AttemptRecord
from harness.ledger import TryState
from harness.outcomes import Outcome, in_denominator
from harness.records import Cell, Count, ExecutionMode, Microseconds, Record
from harness.untrusted import clean_text
from scoring.evidence import Evidence, TryEvidence


class Energy(Record):
    """The energy of one try's solver. ``active_uj`` is the figure; None has its reason."""

    active_uj: Signed | None
    reason: str = ""
    uncertainty_uj: Count | None
    gross_uj: Count | None
    idle_uj: Count | None
    at_least_uj: Count
    provenance: Provenance
    meter: str
    zone_set: str
    scope: str
    host_fingerprint: str
    estimator_watts: str | None
    estimator_source: str | None
    flags: tuple[EnergyFlag, ...]
    reliable: bool
    """False prints as ``~``."""


class MeasuredCell(Record):
    """What one planned cell took, by the try that ended it. ``wall_us`` is the solver's; None if it never ran."""

    cell: Cell
    tries: Count
    mode: ExecutionMode
    reason: str
    """One line for a reader, made safe to show."""
    wall_us: Microseconds | None
    grade_wall_us: Microseconds | None
    energy: Energy | None
    use: ResourceUse | None
    output_dropped: Count | None
    """Bytes of the solver's output beyond its limit."""


class Total(Record):
    """The energy of all tries of a solver's cells.

    ``active_uj`` is None as soon as one part is unknown; ``at_least_uj`` is what the known parts sum to, which are
    ``known`` of ``of``. The same holds of the energy per resolved cell, of which ``per_resolved_at_least_uj`` is a
    lower bound: with nothing resolved, the first resolution would have cost at least everything.
    """

    active_uj: Signed | None
    reason: str = ""
    at_least_uj: Count
    known: Count
    of: Count
    per_resolved_uj: Signed | None
    per_resolved_reason: str = ""
    per_resolved_at_least_uj: Count
    provenance: Provenance
    zone_set: str
    flags: tuple[EnergyFlag, ...]
    reliable: bool


class MeasuredSolver(Record):
    """A solver's totals over its planned cells."""

    energy: Total
    retried_uj: Signed | None
    """The part of the total that tries other than the last ones took; None if any of it is unknown."""
    wall_median_us: Microseconds | None
    """Of the solver, over the cells that count; the lower middle of an even number is averaged with the upper."""
    tries: Count
    retries: Count
    """Tries that ended and were repeated."""
    abandoned: Count
    """Tries that died with their process."""


class Measured(Record):
    """All measured values of a run."""

    cells: tuple[MeasuredCell, ...]
    solvers: dict[str, MeasuredSolver]


def make_measured(evidence: Evidence) -> Measured:
    """The measured values of a finished run.

    Raises:
        KeyError: a planned cell has not ended.
    """
    return Measured(
        cells=tuple(_cell(evidence, cell) for cell in evidence.plan.cells()),
        solvers={solver.name: _solver(evidence, solver.name) for solver in evidence.plan.solvers},
    )


def _cell(evidence: Evidence, cell: Cell) -> MeasuredCell:
    record = evidence.final(cell)
    solve, grade = record.solve, record.grade
    return MeasuredCell(
        cell=cell,
        tries=sum(one.cell == cell for one in evidence.tries),
        mode=record.mode,
        reason=clean_text(record.reason),
        wall_us=solve.wall_us if solve else None,
        grade_wall_us=grade.wall_us if grade else None,
        energy=_energy(solve.energy) if solve else None,
        use=solve.use if solve else None,
        output_dropped=solve.output_dropped if solve else None,
    )


def _energy(record: EnergyRecord) -> Energy:
    taken = {name: getattr(record, name) for name in Energy.model_fields if name != "reason"}
    return Energy(**taken, reason=record.missing.get("active_uj", ""))


def _solver(evidence: Evidence, solver: str) -> MeasuredSolver:
    tries = evidence.of_solver(solver)
    cells = [cell for cell in evidence.plan.cells() if cell.solver == solver]
    finals = [evidence.final(cell) for cell in cells]
    last = {cell: max(one.attempt_try for one in tries if one.cell == cell) for cell in cells}
    earlier = [one for one in tries if one.attempt_try < last[one.cell]]
    walls = sorted(one.solve.wall_us for one in finals if one.solve and in_denominator(one.outcome))
    return MeasuredSolver(
        energy=_total([_part(evidence, one) for one in tries], sum(one.outcome is Outcome.SOLVED for one in finals)),
        retried_uj=_sum([_active(_part(evidence, one)) for one in earlier]),
        wall_median_us=_median(walls),
        tries=len(tries),
        retries=sum(one.state is TryState.ENDED for one in earlier),
        abandoned=sum(one.state is TryState.ABANDONED for one in earlier),
    )


def _part(evidence: Evidence, one: TryEvidence) -> EnergyRecord | AttemptRecord | None:
    """A try's energy; its record if the solver never ran, which cost nothing of it; None if nobody knows."""
    record = evidence.record_of(one)
    return record.solve.energy if record is not None and record.solve is not None else record


def _active(part: EnergyRecord | AttemptRecord | None) -> int | None:
    match part:
        case EnergyRecord():
            return part.active_uj
        case AttemptRecord():
            return 0  # the bracket is around the solver alone, and it did not run
        case None:
            return None


def _total(parts: Sequence[EnergyRecord | AttemptRecord | None], resolved: int) -> Total:
    values = [_active(part) for part in parts]
    booked = [part for part in parts if isinstance(part, EnergyRecord)]
    zone_sets = sorted({part.zone_set for part in booked})
    at_least = max(0, sum(value for value in values if value is not None))
    active = _sum(values) if len(zone_sets) <= 1 else None
    unknown = sum(value is None for value in values)
    reason = ""
    if active is None:
        reason = f"{unknown} of {len(values)} parts are unknown" if unknown else f"mixed zones: {', '.join(zone_sets)}"
    return Total(
        active_uj=active,
        reason=reason,
        at_least_uj=at_least,
        known=len(values) - unknown,
        of=len(values),
        per_resolved_uj=None if active is None or not resolved else round(Fraction(active, resolved)),
        per_resolved_reason=reason or ("" if resolved else "nothing was resolved"),
        per_resolved_at_least_uj=at_least // max(1, resolved),
        provenance=weakest([part.provenance for part in booked]),
        zone_set=zone_sets[0] if len(zone_sets) == 1 else "mixed" if zone_sets else "none",
        flags=in_order({flag for part in booked for flag in part.flags}),
        reliable=active is not None and bool(booked) and all(part.reliable for part in booked),
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _median(values: Sequence[int]) -> int | None:
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) // 2
