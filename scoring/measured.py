"""Measured values of a run: energy, time, resources. They stand beside the core and need not reproduce.

Energies are integer microjoules of the host over its idle draw, around the solver alone. Every try of a cell is paid
for: those that were repeated and those that died with their process too, whose share nobody knows. What a solver asked
of a model is in :mod:`scoring.model_use`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from harness.energy.records import EnergyFlag, EnergyRecord, Provenance, Signed, in_order
from harness.energy.totals import EnergyTotals, total_energy
from harness.engine.cgroup import ResourceUse
from harness.evidence import AttemptRecord
from harness.gateway.access import Billing
from harness.gateway.records import AttemptTraffic
from harness.ledger import TryState
from harness.outcomes import Outcome, in_denominator
from harness.records import Cell, Count, ExecutionMode, Grown, Microseconds, Record, RunMode, SolverRef
from harness.untrusted import clean_text
from scoring.cost import NOT_METERED, attempt_cost, basis_of
from scoring.evidence import Evidence, TryEvidence
from scoring.expense import Axis, Expense, Total, energy_of, expense, idle, total
from scoring.figures import by_task
from scoring.frontier import Frontier
from scoring.frontiers import frontiers
from scoring.model_use import ModelUse, elapsed, model_use
from scoring.own_account import OwnAccount, own_account
from scoring.prices import Cost
from scoring.selection import select
from scoring.statistics.ratio import per_resolved
from scoring.within import Timed, Within, within


class Energy(Record):
    """The energy of one try's solver. ``active_uj`` is the figure; None has its reason."""

    active_uj: Signed | None
    reason: str = ""
    uncertainty_uj: Count | None
    gross_uj: Signed | None
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


class MeasuredCell(Grown):
    """What one planned cell took, by the try that ended it. ``wall_us`` is the solver's; None if it never ran."""

    later = frozenset({"traffic", "cost", "self_reported"})

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
    traffic: AttemptTraffic | None = None
    """What the gateway saw; None for a solver that needs no model, and where it never ran."""
    cost: Cost | None = None
    """Published rates times usage, in the view that fits the solver's billing; None in a dry run."""
    self_reported: OwnAccount | None = None
    """What the agent's own log says of its use: in no figure of ours."""


class MeasuredSolver(Grown):
    """A solver's totals over its planned cells.

    ``energy`` is over every try whose solver ran or, since nobody knows of an abandoned one, may have run.
    """

    later = frozenset({"model", "per_resolved_error_uj", "within", "tokens", "wall_us", "elapsed_us"})

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
    model: ModelUse | None = None
    """What it asked of its model; None for a solver that needs none."""
    per_resolved_error_uj: Count | None = None
    """The standard error of the energy per resolved cell, with tasks as clusters."""
    within: tuple[Within, ...] = ()
    """pass@1 within shorter limits; the whole budget's is among the core's rates."""
    tokens: Total | None = None
    """Of all buckets together; None for a solver that asks no model."""
    wall_us: Total | None = None
    """Time of its solver's runs, summed over all tries; attempts may overlap."""
    elapsed_us: Microseconds | None = None
    """From the first try's beginning to the last one's end, other solvers' attempts between them included."""


class Measured(Grown):
    """All measured values of a run."""

    later = frozenset({"frontiers"})

    cells: tuple[MeasuredCell, ...]
    solvers: dict[str, MeasuredSolver]
    frontiers: tuple[Frontier, ...] = ()
    """Who is beaten by nobody, in each currency and kind of figure."""


def make_measured(evidence: Evidence) -> Measured:
    """The measured values of a finished run.

    Raises:
        KeyError: a planned cell has not ended.
    """
    return Measured(
        cells=tuple(_cell(evidence, cell) for cell in evidence.plan.cells()),
        solvers={solver.name: _solver(evidence, solver) for solver in evidence.plan.solvers},
        frontiers=frontiers(evidence, select(evidence)) if evidence.statistics else (),
    )


def _cell(evidence: Evidence, cell: Cell) -> MeasuredCell:
    record = evidence.final(cell)
    solve, grade, cost = record.solve, record.grade, _cost(evidence, cell)
    return MeasuredCell(
        cell=cell,
        tries=len(evidence.of_cell(cell)),
        mode=record.mode,
        reason=clean_text(record.reason),
        wall_us=solve.wall_us if solve else None,
        grade_wall_us=grade.wall_us if grade else None,
        energy=_energy(solve.energy) if solve else None,
        use=solve.use if solve else None,
        output_dropped=solve.output_dropped if solve else None,
        traffic=record.traffic,
        cost=cost,
        self_reported=own_account(record, cost),
    )


def _cost(evidence: Evidence, cell: Cell) -> Cost | None:
    """What the try that ended a cell cost; the solver's totals have the others."""
    ref = next(one for one in evidence.plan.solvers if one.name == cell.solver)
    if evidence.plan.mode is RunMode.DRY or evidence.prices is None or ref.billing is None:
        return None
    last = evidence.of_cell(cell)[-1]
    record, basis = evidence.record_of(last), basis_of(Billing(ref.billing))
    if last.record is None or record is None or (record.solve is None and record.traffic is None):
        return None
    used = evidence.used.get(last.record.digest)
    if used is None:
        return Cost(usd=None, reason=NOT_METERED, basis=basis, table=evidence.prices.digest)
    return attempt_cost(evidence.prices, used, basis)


def _energy(record: EnergyRecord) -> Energy:
    taken = {name: getattr(record, name) for name in Energy.model_fields if name != "reason"}
    return Energy(**taken, reason=record.missing.get("active_uj", ""))


def _solver(evidence: Evidence, solver: SolverRef) -> MeasuredSolver:
    tries = evidence.of_solver(solver.name)
    cells = [cell for cell in evidence.plan.cells() if cell.solver == solver.name]
    finals = [evidence.final(cell) for cell in cells]
    earlier = [one for cell in cells for one in evidence.of_cell(cell)[:-1]]
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
        model=model_use(evidence, solver),
        **(_statistics(evidence, solver, cells) if evidence.statistics else {}),
    )


def _statistics(evidence: Evidence, solver: SolverRef, cells: Sequence[Cell]) -> dict[str, Any]:
    """What cards have had since there are statistics."""
    drawn, wall = expense(evidence, solver, Axis.JOULES), expense(evidence, solver, Axis.WALL)
    tokens = expense(evidence, solver, Axis.TOKENS)
    finals = [evidence.final(cell) for cell in cells]
    return {
        "per_resolved_error_uj": _error(drawn, finals),
        "within": within(
            [Timed(one.cell.task, one.outcome, one.solve.wall_us if one.solve else None) for one in finals]
        ),
        "tokens": None if tokens is None else total(tokens),
        "wall_us": None if wall is None else total(wall, 10**6),
        "elapsed_us": elapsed(evidence.of_solver(solver.name)),
    }


def _error(drawn: Expense | None, finals: Sequence[AttemptRecord]) -> int | None:
    """The standard error of what one resolved cell takes; None with any part unknown, or nothing resolved."""
    if drawn is None or drawn.covered < len(drawn.parts):
        return None
    spent = drawn.by_task()
    won = by_task((one.cell.task, Fraction(one.outcome is Outcome.SOLVED)) for one in finals)
    found = per_resolved([(spent.get(task, Fraction()), sum(values, Fraction())) for task, values in won.items()])
    return None if found is None or found[1] is None else round(found[1] * 10**6)


def _energies(evidence: Evidence, tries: Sequence[TryEvidence]) -> list[EnergyRecord | None]:
    """The energy of each try; a try that ended before its solver ran drew nothing for it and is left out."""
    records = [evidence.record_of(one) for one in tries]
    return [energy_of(record) for record in records if not idle(record)]


def _sum(parts: Sequence[EnergyRecord | None]) -> int | None:
    known = [part.active_uj for part in parts if part is not None and part.active_uj is not None]
    return sum(known) if len(known) == len(parts) else None


def _median(values: Sequence[int]) -> int | None:
    """The middle one; of an even number, the mean of the two in the middle, rounded down."""
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2 if values else None
