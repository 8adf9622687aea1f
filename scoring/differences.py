"""Measured values of two solvers side by side, each with its difference or with the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from harness.records import Record
from scoring import comparable
from scoring.board import Board
from scoring.cost import View, basis_of
from scoring.figures import DecimalString, decimal
from scoring.measured import MeasuredSolver


class MeasuredDifference(Record):
    """One measured value of both sides; ``difference`` is None with the ``reason`` why it is withheld or unknown."""

    name: str
    unit: str
    first: DecimalString | None
    second: DecimalString | None
    difference: DecimalString | None
    reason: str = ""


def measured_differences(
    first: Board, second: Board, mine: str, theirs: str, withheld: Sequence[str]
) -> Iterator[MeasuredDifference]:
    """What two solvers took: time, energy and money of the second beside the first's.

    Args:
        withheld: what forbids a difference of times or energies between these cards.
    """
    one, two = first.solvers[mine], second.solvers[theirs]
    agents = _agents(first, second, mine, theirs)
    why = "; ".join([*withheld, *agents])
    yield _told("wall, median", "s", _seconds(one.wall_median_us), _seconds(two.wall_median_us), why)
    energy = "; ".join([*withheld, *agents, *comparable.withheld_energy(first, second, mine, theirs)])
    yield _told("energy per resolved", "J", _joules(one, each=True), _joules(two, each=True), energy)
    yield _told("energy, all tries", "J", _joules(one, each=False), _joules(two, each=False), energy)
    if one.model is None or two.model is None:
        return
    yield _told("requests", "", Fraction(one.model.requests), Fraction(two.model.requests), "")
    costs = ([_view(one)] if one.model.costs else []) + ([_view(two)] if two.model.costs else [])
    if len(costs) == 2:
        why = _no_cost(first, second, costs[0], costs[1])
        spent, each = ([_usd(view.usd), _usd(view.per_solved.value)] for view in costs)
        yield _told(f"cost, all tries ({costs[0].basis.value})", "USD", spent[0], each[0], why)
        yield _told("cost per solved", "USD", spent[1], each[1], why)


def _told(name: str, unit: str, one: Fraction | None, two: Fraction | None, why: str) -> MeasuredDifference:
    if not why and (one is None or two is None):
        why = "unknown on " + ("both cards" if one is two else "the first card" if one is None else "the second card")
    return MeasuredDifference(
        name=name,
        unit=unit,
        first=None if one is None else decimal(one),
        second=None if two is None else decimal(two),
        difference=None if why or one is None or two is None else decimal(two - one),
        reason=why,
    )


def _agents(first: Board, second: Board, mine: str, theirs: str) -> list[str]:
    """The same agent in two versions took its time as two programs do."""
    one, two = first.solver(mine), second.solver(theirs)
    if one.harness != two.harness or one.harness_version == two.harness_version:
        return []
    return [f"harness version: {one.harness} {one.harness_version} against {two.harness_version}"]


def _seconds(value_us: int | None) -> Fraction | None:
    return None if value_us is None else Fraction(value_us, 10**6)


def _joules(solver: MeasuredSolver, *, each: bool) -> Fraction | None:
    value = solver.energy.per_resolved_uj if each else solver.energy.total_uj
    return None if value is None else Fraction(value, 10**6)


def _view(solver: MeasuredSolver) -> View:
    """The view that fits how the solver's model is paid."""
    assert solver.model is not None
    return next(one for one in solver.model.costs if one.basis is basis_of(solver.model.billing))


def _usd(value: str | None) -> Fraction | None:
    return None if value is None else Fraction(value)


def _no_cost(first: Board, second: Board, one: View, two: View) -> str:
    tables = [None if board.prices is None else board.prices.table.digest for board in (first, second)]
    if tables[0] != tables[1]:
        return f"price table: {tables[0] or 'none'} against {tables[1] or 'none'}"
    if one.basis is not two.basis:
        return f"basis: {one.basis.value} against {two.basis.value}"
    return one.reason or two.reason
