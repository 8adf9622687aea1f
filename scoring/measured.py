"""Measured values of a run: energy, time, resources. They stand beside the core and need not reproduce.

Energies are integer microjoules of the host over its idle draw, around the solver alone. Every try of a cell is paid
for: those that were repeated and those that died with their process too, whose share nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.energy.records import EnergyFlag, EnergyRecord, Provenance, Signed, in_order
from harness.energy.totals import EnergyTotals, total_energy
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


class MeasuredSolver(Record):
    """A solver's totals over its planned cells.

    ``energy`` is over every try whose solver ran or, since nobody knows of an abandoned one, may have run.
    """

    energy: EnergyTotals
    flags: tuple[EnergyFlag, ...]
    """Every flag of any part of that energy; one that marks makes the total a ``~`` figure."""
    retried_uj: Signed | None
    """The part of the total that tries other than the last ones took; None if any of it is unknown."""
    wall_median_us: Microseconds | None
    """Of the solver, over the cells that count, retries left aside."""
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
    parts = _energies(evidence, tries)
    walls = [one.solve.wall_us for one in finals if one.solve and in_denominator(one.outcome)]
    return MeasuredSolver(
        energy=total_energy(parts, sum(one.outcome is Outcome.SOLVED for one in finals)),
        flags=in_order({flag for part in parts if part is not None for flag in part.flags}),
        retried_uj=_sum(_energies(evidence, earlier)),
        wall_median_us=_median(sorted(walls)),
        tries=len(tries),
        retries=sum(one.state is TryState.ENDED for one in earlier),
        abandoned=sum(one.state is TryState.ABANDONED for one in earlier),
    )


def _energies(evidence: Evidence, tries: Sequence[TryEvidence]) -> list[EnergyRecord | None]:
    """The energy of each try; a try that ended before its solver ran drew nothing for it and is left out."""
    records = [evidence.record_of(one) for one in tries]
    return [record.solve.energy if record and record.solve else None for record in records if not _idle(record)]


def _idle(record: AttemptRecord | None) -> bool:
    return record is not None and record.solve is None


def _sum(parts: Sequence[EnergyRecord | None]) -> int | None:
    known = [part.active_uj for part in parts if part is not None and part.active_uj is not None]
    return sum(known) if len(known) == len(parts) else None


def _median(values: Sequence[int]) -> int | None:
    """The middle one; of an even number, the mean of the two in the middle, rounded down."""
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2 if values else None
