"""A card as tables of text: what to show, not how to draw it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.counted import counted
from harness.errors import VerifyError
from harness.suites.lock import Standing
from harness.untrusted import clean_text
from scoring.aggregate import Aggregate
from scoring.card import Card
from scoring.core import CoreCell
from scoring.figures import by_task
from scoring.measured import MeasuredCell, MeasuredSolver
from scoring.report import attempts, audits, frontiers, models, rates, selection
from scoring.report.figures import figure, mean, per_resolved, provenance, total
from scoring.report.table import NONE, Table, seconds
from scoring.within import Within
from scoring.wording import SUITE_LOCK

__all__ = ["NONE", "Report", "Table", "make_report", "per_resolved", "total"]

LONGEST = 500
"""Rows of a table."""


@dataclass(frozen=True)
class Report:
    """A report from top to bottom: lines, tables, notes, and the line that ends it."""

    head: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    last: str


def make_report(card: Card, *, task: str | None = None, cells: attempts.Cells | None = None) -> Report:
    """The report of a card; *task* limits the drill-down to one task.

    Everything in it is safe to print on a terminal.

    Args:
        card: the card.
        task: one of its tasks.
        cells: what to drill down to, where the card's own lists are not all here.
    """
    shown = _cells(card, task) if cells is None else cells
    tables = (
        _scores(card),
        *rates.tables(card),
        *selection.tables(card),
        *frontiers.tables(card),
        _costs(card),
        *models.tables(card),
        *audits.tables(card),
        *attempts.tables(shown),
    )
    return Report(
        head=_head(card),
        tables=tuple(_cut(one) for one in tables if one.rows),
        notes=(*_notes(card), *(() if tables[-1].rows else ("attempts: --task ID shows one task's",))),
        last=f"card {card.id}",
    )


def _cut(table: Table) -> Table:
    """A table that can be read: of a very long one the beginning."""
    if len(table.rows) <= LONGEST:
        return table
    title = f"{table.title} (the first {LONGEST} of {len(table.rows)}; --task ID shows one task's)"
    return Table(title, table.columns, table.rows[:LONGEST])


def _cells(card: Card, task: str | None) -> list[tuple[CoreCell, MeasuredCell]]:
    """Task by task, each with what it took.

    Raises:
        VerifyError: the card's parts are not of the same cells.
    """
    took = {one.cell: one for one in card.measured.cells}
    strange = next((one.cell.key for one in card.core.cells if one.cell not in took), None)
    if strange is not None:
        problem = f"core.cells has {clean_text(strange)}, and measured.cells does not"
        raise VerifyError(f"card {card.id}", problem, "get the card again from who made it")
    found = by_task((one.cell.task, (one, took[one.cell])) for one in card.core.cells)
    return [pair for wanted, pairs in found.items() if task in {None, wanted} for pair in pairs]


def _head(card: Card) -> tuple[str, ...]:
    plan, run = card.core.plan, card.stamp.run
    tasks = counted(len(plan.tasks), "task") + (" (partial: tasks of the suite were left out)" if plan.partial else "")
    modes = ", ".join(mode.value for mode in run.execution_modes) or NONE
    groups = f", in groups of {plan.best_of.rollouts}" if plan.best_of else ""
    lines = [
        f"{plan.suite.name} {plan.suite.version}, {tasks}, {counted(plan.attempts, 'attempt')} each{groups}",
        f"mode {plan.mode.value}, provider {clean_text(plan.provider)}, execution {modes},"
        f" audit: {card.stamp.audit.status.value}",
        f"plan {plan.id} (known runs of it: {run.runs_known})",
        f"core {card.core_digest}",
    ]
    if run.image_drift:
        drifted = ", ".join(image.name for image in plan.images if image.drift)
        lines.append(f"image drift: {drifted} built from other versions than locked; not publishable, not comparable")
    if run.suite_lock is not None and run.suite_lock is not Standing.LOCKED:
        lines.append(SUITE_LOCK[run.suite_lock])
    watts = {
        f"{e.estimator_watts} W ({e.estimator_source})"
        for c in card.measured.cells
        if (e := c.energy) and e.estimator_watts
    }
    lines += [f"energy by the Estimator: wall time x {one}" for one in sorted(watts)]
    lines += [f"operator: {one.kind.value} ({clean_text(one.detail)})" for one in run.interventions]
    return tuple(lines)


def _solved(row: Aggregate) -> str:
    """What was solved of what counts, and of how many that is."""
    planned = "" if row.counted == row.planned else f" ({row.planned} planned)"
    return f"{row.solved}/{row.counted}{planned}"


def _scores(card: Card) -> Table:
    rows = [
        (
            clean_text(name),
            f"{row.solved}/{row.counted}" + (" incomplete" if row.incomplete else ""),
            figure(row.pass_at_1) if row.rates is None else rates.estimate(row.rates.pass_at_1),
            (figure(row.pass_at_1_raw) if row.rates is None else rates.estimate(row.rates.pass_at_1_raw))
            + f" of {row.planned}",
            mean(row.f),
            mean(row.q),
            mean(row.s),
            mean(row.combined),
            ", ".join(f"{outcome.value} {number}" for outcome, number in row.excluded.items()) or "0",
        )
        for name, row in _rows(card)
    ]
    columns = ("solver", "solved", "pass@1", "raw", "F", "Q", "S", "combined", "excluded")
    return Table("solvers", columns, tuple(rows))


def _rows(card: Card) -> list[tuple[str, Aggregate]]:
    """Solvers in planned order; a card's own keys are sorted."""
    return [(solver.name, card.core.aggregates[solver.name]) for solver in card.core.plan.solvers]


def _costs(card: Card) -> Table:
    rows = []
    for name, _ in _rows(card):
        solver = card.measured.solvers[name]
        meters = {one.energy.meter for one in card.measured.cells if one.cell.solver == name and one.energy}
        rows.append(
            (
                clean_text(name),
                per_resolved(solver),
                total(solver),
                provenance(solver.energy.provenance, meters),
                *(_within(one) for one in solver.within),
                seconds(solver.wall_median_us),
                _summed(solver),
                seconds(solver.elapsed_us),
                str(solver.tries),
                str(solver.retries + solver.abandoned),
            )
        )
    limits = [f"pass@1 in {one.limit_s // 60} min" for one in card.measured.solvers[_rows(card)[0][0]].within]
    times = ("median s", "s of solvers", "s elapsed", "tries", "retries")
    columns = ("solver", "J/resolved", "J total", "energy is", *limits, *times)
    return Table("cost of all tries", columns, tuple(rows))


def _within(one: Within) -> str:
    return rates.estimate(one.pass_at_1).split(" (")[0]


def _summed(one: MeasuredSolver) -> str:
    """The time of all its runs; with a part unknown, what it is at least."""
    if one.wall_us is None or one.wall_us.total is not None:
        return NONE if one.wall_us is None else seconds(one.wall_us.total)
    return f"≥{seconds(one.wall_us.at_least)}"


def _notes(card: Card) -> list[str]:
    notes = []
    for name, row in _rows(card):
        gaps = {"F": row.f, "Q": row.q, "S": row.s, "combined": row.combined}
        notes += [
            f"{clean_text(name)}: {label} unavailable ({clean_text(one.reason)}; {one.available}/{one.of} have it)"
            for label, one in gaps.items()
            if one.value is None
        ]
        measured = card.measured.solvers[name]
        energy = measured.energy
        if energy.reason is not None:
            known = f"{energy.covered}/{energy.attempts} tries metered"
            notes.append(f"{clean_text(name)}: energy off the frontier ({energy.reason}; {known})")
        if measured.abandoned:
            notes.append(
                f"{clean_text(name)}: {measured.abandoned} abandoned tries, of unknown cost, are in the totals"
            )
    notes += rates.notes(card)
    notes += frontiers.notes(card)
    notes += selection.notes(card)
    notes += models.notes(card)
    notes += audits.notes(card)
    notes += [
        f"{counted(one.groups, 'group')} graded by {one.oracle.value}, trust {one.trust.value}: {one.meaning}"
        for one in card.stamp.oracles
    ]
    engine = card.stamp.engine
    if engine.advisories:
        known = ", ".join(name for one in engine.advisories for name in one.identifiers)
        notes.append(
            f"{clean_text(engine.runtime)} {clean_text(engine.runtime_version)}: upstream versions this old have"
            f" {known}; {engine.advisories[-1].note}"
        )
    solved = ", ".join(f"{clean_text(name)} {_solved(row)}" for name, row in _rows(card))
    return [*notes, *card.stamp.limits, f"in short, solved: {solved}"]
