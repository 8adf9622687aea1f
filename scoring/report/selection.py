"""What a card says of best-of-N: the row that a selector makes of a solver's attempts, with all of them paid for."""

from __future__ import annotations

from fractions import Fraction

from harness.gateway.records import Bucket
from harness.untrusted import clean_text
from scoring.card import Card
from scoring.cost import basis_of
from scoring.figures import Figure
from scoring.measured import MeasuredSolver
from scoring.report.models import dollars, tokens
from scoring.report.table import NONE, Table, places
from scoring.selection import Rule

_COLUMNS = ("solver", "how", "solved", "score", "raw", "J of all", "J/solved", "tokens of all", "$ of all")


def tables(card: Card) -> tuple[Table, ...]:
    """The selector's table; none where nothing was selected."""
    selected = card.core.selection
    if selected is None:
        return ()
    rows = []
    for solver in card.core.plan.solvers:
        row, measured = selected.rows[solver.name], card.measured.solvers[solver.name]
        rows.append(
            (
                clean_text(solver.name),
                clean_text(row.name),
                f"{row.solved}/{row.groups}",
                _figure(row.figure),
                _figure(row.raw),
                *_joules(measured, row.solved),
                *_paid(measured),
            )
        )
    return (Table(f"of {selected.rollouts} attempts each, all of them paid for", _COLUMNS, tuple(rows)),)


def notes(card: Card) -> list[str]:
    """What a reader must know of those rows, and which attempts were picked."""
    selected = card.core.selection
    if selected is None:
        return []
    said = [
        clean_text(f"{name}: {row.name}: {row.figure.reason}")
        for name, row in selected.rows.items()
        if row.figure.reason
    ]
    said += [
        f"{clean_text(name)}: in {row.short} of {row.groups} groups fewer than {selected.rollouts} attempts count"
        for name, row in selected.rows.items()
        if row.short and row.counted
    ]
    without = list(dict.fromkeys(pick.task for pick in selected.picks if pick.rule is Rule.FIRST_ANSWER))
    if without:
        said.append(
            f"no visible tests, so the first attempt with an answer is taken: {', '.join(map(clean_text, without))}"
        )
    for solver in dict.fromkeys(pick.solver for pick in selected.picks):
        if not selected.rows[solver].counted:
            continue
        picked = [f"{clean_text(one.task)} #{one.picked or NONE}" for one in selected.picks if one.solver == solver]
        said.append(f"{clean_text(solver)}: picked {', '.join(picked)}")
    return said


def _joules(one: MeasuredSolver, solved: int) -> tuple[str, str]:
    """All tries' energy, and that for one picked attempt that is solved; with a part unknown, at least so much."""
    marked = "~" if any(flag.marks for flag in one.flags) else ""
    if one.energy.total_uj is None and not one.energy.covered:
        return NONE, NONE
    least, value = one.energy.total_uj is None, one.energy.at_least_uj
    if one.energy.total_uj is not None:
        value = one.energy.total_uj
    bound = "≥" if least else ""
    each = f"{bound}{marked}{places(Fraction(value, solved * 10**6))}" if solved else NONE
    return f"{bound}{marked}{places(Fraction(value, 10**6))}", each


def _paid(one: MeasuredSolver) -> tuple[str, str]:
    if one.model is None:
        return NONE, NONE
    basis = basis_of(one.model.billing)
    view = next(view for view in one.model.costs if view.basis is basis)
    return tokens(one.model.usage, *Bucket), dollars(view)


def _figure(one: Figure) -> str:
    return NONE if one.value is None else places(Fraction(one.value))
