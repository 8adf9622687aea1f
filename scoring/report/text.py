"""A card as tables of text: what to show, not how to draw it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from harness.energy.records import Provenance
from harness.untrusted import clean_text
from scoring.aggregate import Aggregate
from scoring.card import Card
from scoring.core import CoreCell
from scoring.figures import Figure, Mean
from scoring.measured import MeasuredCell, MeasuredSolver

NONE = "–"
ESTIMATOR = "estimator"


@dataclass(frozen=True)
class Table:
    """Rows of plain text under headings; every row has as many texts as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """A report from top to bottom: lines, tables, notes, and the line that ends it."""

    head: tuple[str, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    last: str


def make_report(card: Card, *, task: str | None = None) -> Report:
    """The report of a card; *task* limits the drill-down to one task.

    Everything in it is safe to print on a terminal.
    """
    return Report(
        head=_head(card),
        tables=(_scores(card), _costs(card), _attempts(card, task), _measured(card, task)),
        notes=tuple(_notes(card)),
        last=f"card {card.id}",
    )


def _head(card: Card) -> tuple[str, ...]:
    plan, run = card.core.plan, card.stamp.run
    tasks = f"{len(plan.tasks)} tasks" + (" (partial: tasks of the suite were left out)" if plan.partial else "")
    modes = ", ".join(mode.value for mode in run.execution_modes) or NONE
    lines = [
        f"{plan.suite.name} {plan.suite.version}, {tasks}, {plan.attempts} attempt(s) each",
        f"mode {plan.mode.value}, provider {clean_text(plan.provider)}, execution {modes},"
        f" audit: {card.stamp.audit.status.value}",
        f"plan {plan.id} (known runs of it: {run.runs_known})",
        f"core {card.core_digest}",
    ]
    if run.image_drift:
        drifted = ", ".join(image.name for image in plan.images if image.drift)
        lines.append(f"image drift: {drifted} built from other versions than locked; not publishable, not comparable")
    watts = {
        f"{e.estimator_watts} W ({e.estimator_source})"
        for c in card.measured.cells
        if (e := c.energy) and e.estimator_watts
    }
    lines += [f"energy by the Estimator: wall time x {one}" for one in sorted(watts)]
    lines += [f"operator: {one.kind.value} ({clean_text(one.detail)})" for one in run.interventions]
    return tuple(lines)


def _scores(card: Card) -> Table:
    rows = [
        (
            clean_text(name),
            f"{row.solved}/{row.counted}" + (" incomplete" if row.incomplete else ""),
            figure(row.pass_at_1),
            figure(row.pass_at_1_raw),
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
                seconds(solver.wall_median_us),
                str(solver.tries),
                str(solver.retries + solver.abandoned),
            )
        )
    columns = ("solver", "J/resolved", "J total", "energy is", "median s", "tries", "retries")
    return Table("cost of all tries", columns, tuple(rows))


def _attempts(card: Card, task: str | None) -> Table:
    rows = [
        (
            *_names(one),
            one.outcome.value + (f" ({clean_text(one.kind)})" if one.kind else ""),
            f"{sum(verdict.passed for verdict in one.verdicts)}/{len(one.verdicts)}" if one.verdicts else NONE,
            figure(one.f.figure),
            figure(one.q.figure),
            figure(one.s.figure),
        )
        for one, _ in _cells(card, task)
    ]
    return Table("attempts", ("task", "solver", "#", "outcome", "groups", "F", "Q", "S"), tuple(rows))


def _measured(card: Card, task: str | None) -> Table:
    rows = []
    for one, measured in _cells(card, task):
        energy = measured.energy
        rows.append(
            (
                *_names(one),
                joules(energy.active_uj, reliable=energy.reliable) if energy else NONE,
                provenance(energy.provenance, {energy.meter}) if energy else NONE,
                seconds(measured.wall_us),
                str(measured.tries),
                clean_text(measured.reason, 80),
            )
        )
    return Table("measured", ("task", "solver", "#", "J", "energy is", "s", "tries", "why"), tuple(rows))


def _names(one: CoreCell) -> tuple[str, str, str]:
    return clean_text(one.cell.task), clean_text(one.cell.solver), str(one.cell.attempt)


def _cells(card: Card, task: str | None) -> list[tuple[CoreCell, MeasuredCell]]:
    """Task by task, each with what it took."""
    measured = {one.cell: one for one in card.measured.cells}
    return [
        (one, measured[one.cell])
        for wanted in card.core.plan.tasks
        for one in card.core.cells
        if one.cell.task == wanted.task and task in {None, wanted.task}
    ]


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
    notes += [
        f"{one.groups} groups graded by {one.oracle.value}, trust {one.trust.value}: {one.meaning}"
        for one in card.stamp.oracles
    ]
    engine = card.stamp.engine
    if engine.advisories:
        known = ", ".join(name for one in engine.advisories for name in one.identifiers)
        notes.append(
            f"{clean_text(engine.runtime)} {clean_text(engine.runtime_version)}: upstream versions this old have"
            f" {known}; {engine.advisories[-1].note}"
        )
    return [*notes, *card.stamp.limits]


def figure(one: Figure) -> str:
    """A figure with three places, or a dash."""
    return NONE if one.value is None else _short(one.value)


def mean(one: Mean) -> str:
    """A mean, or a dash."""
    return NONE if one.value is None else _short(one.value)


def joules(value_uj: int | None, *, reliable: bool) -> str:
    """An energy in joules with its ``~``."""
    return NONE if value_uj is None else f"{'' if reliable else '~'}{_places(Fraction(value_uj, 10**6))}"


def provenance(one: Provenance, meters: set[str]) -> str:
    """How an energy came about, and the estimator by name where it is that one's."""
    return f"{one.value}, {ESTIMATOR.capitalize()}" if ESTIMATOR in meters else one.value


def total(one: MeasuredSolver) -> str:
    """A total; where a part is missing, what it is at least and how much of it is known."""
    energy = one.energy
    if energy.total_uj is None:
        return f"≥{joules(energy.at_least_uj, reliable=_reliable(one))} ({energy.covered}/{energy.attempts} known)"
    return joules(energy.total_uj, reliable=_reliable(one))


def per_resolved(one: MeasuredSolver) -> str:
    """Energy per resolved cell; with none resolved, its lower bound."""
    energy = one.energy
    if energy.per_resolved_at_least_uj is not None and energy.covered:
        return f">{joules(energy.per_resolved_at_least_uj, reliable=_reliable(one))}"
    return joules(energy.per_resolved_uj, reliable=_reliable(one))


def _reliable(one: MeasuredSolver) -> bool:
    return not any(flag.marks for flag in one.flags)


def seconds(value_us: int | None) -> str:
    """A time in seconds, or a dash."""
    return NONE if value_us is None else _places(Fraction(value_us, 10**6))


def _short(value: str) -> str:
    return _places(Fraction(value))


def _places(value: Fraction) -> str:
    scaled = round(value * 1000)
    whole, rest = divmod(abs(scaled), 1000)
    return f"{'-' if scaled < 0 else ''}{whole}.{rest:03d}"
