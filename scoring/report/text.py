"""A card as tables of text: what to show, not how to draw it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from harness.energy.records import Provenance
from harness.untrusted import clean_text
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
        tables=(_solvers(card), _attempts(card, task)),
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
        f"plan {plan.id} (run {run.runs_known} known of it)",
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


def _solvers(card: Card) -> Table:
    rows = []
    for name, row in card.core.aggregates.items():
        measured = card.measured.solvers[name]
        meters = {one.energy.meter for one in card.measured.cells if one.cell.solver == name and one.energy}
        excluded = ", ".join(f"{outcome.value} {number}" for outcome, number in row.excluded.items()) or "0"
        rows.append(
            (
                clean_text(name),
                f"{row.solved}/{row.counted}" + (" incomplete" if row.incomplete else ""),
                f"{figure(row.pass_at_1)} ({figure(row.pass_at_1_raw)})",
                mean(row.f),
                mean(row.q),
                mean(row.s),
                mean(row.combined),
                per_resolved(measured, meters),
                total(measured, meters),
                seconds(measured.wall_median_us),
                excluded,
            )
        )
    columns = (
        "solver",
        "solved",
        "pass@1 (raw)",
        "F",
        "Q",
        "S",
        "combined",
        "J/resolved",
        "J total",
        "median s",
        "excluded",
    )
    return Table("solvers", columns, tuple(rows))


def _attempts(card: Card, task: str | None) -> Table:
    measured = {one.cell: one for one in card.measured.cells}
    rows = [
        _attempt(one, measured[one.cell])
        for wanted in card.core.plan.tasks
        for one in card.core.cells
        if one.cell.task == wanted.task and task in {None, wanted.task}
    ]
    columns = ("task", "solver", "#", "outcome", "groups", "F", "Q", "S", "J", "s", "tries", "why")
    return Table("attempts", columns, tuple(rows))


def _attempt(one: CoreCell, measured: MeasuredCell) -> tuple[str, ...]:
    passed = sum(verdict.passed for verdict in one.verdicts)
    energy = measured.energy
    return (
        clean_text(one.cell.task),
        clean_text(one.cell.solver),
        str(one.cell.attempt),
        one.outcome.value + (f" ({clean_text(one.kind)})" if one.kind else ""),
        f"{passed}/{len(one.verdicts)}" if one.verdicts else NONE,
        figure(one.f.figure),
        figure(one.q.figure),
        figure(one.s.figure),
        joules(energy.active_uj, provenance(energy.provenance, {energy.meter}), reliable=energy.reliable)
        if energy
        else NONE,
        seconds(measured.wall_us),
        str(measured.tries),
        clean_text(measured.reason, 80),
    )


def _notes(card: Card) -> list[str]:
    notes = []
    for name, row in card.core.aggregates.items():
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
    return [*notes, *card.stamp.limits]


def figure(one: Figure) -> str:
    """A figure with three places, or a dash."""
    return NONE if one.value is None else _short(one.value)


def mean(one: Mean) -> str:
    """A mean, or a dash."""
    return NONE if one.value is None else _short(one.value)


def joules(value_uj: int | None, label: str, *, reliable: bool) -> str:
    """An energy with its ``~``, its provenance and, where it is the estimator's, that name."""
    if value_uj is None:
        return f"{NONE} ({label})"
    return f"{'' if reliable else '~'}{_places(Fraction(value_uj, 10**6))} ({label})"


def provenance(one: Provenance, meters: set[str]) -> str:
    """How an energy came about, for a table."""
    return f"{one.value}, {ESTIMATOR.capitalize()}" if ESTIMATOR in meters else one.value


def total(one: MeasuredSolver, meters: set[str]) -> str:
    """A total; where a part is missing, what it is at least and how much of it is known."""
    energy = one.energy
    if energy.total_uj is None:
        return f"≥{_places(Fraction(energy.at_least_uj, 10**6))} ({energy.covered}/{energy.attempts} known)"
    return joules(energy.total_uj, provenance(energy.provenance, meters), reliable=_reliable(one))


def per_resolved(one: MeasuredSolver, meters: set[str]) -> str:
    """Energy per resolved cell; with none resolved, its lower bound."""
    energy = one.energy
    if energy.per_resolved_uj is not None:
        return joules(energy.per_resolved_uj, provenance(energy.provenance, meters), reliable=_reliable(one))
    if energy.per_resolved_at_least_uj is None or not energy.covered:
        return NONE
    bound = joules(energy.per_resolved_at_least_uj, provenance(energy.provenance, meters), reliable=_reliable(one))
    return f">{bound}"


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
