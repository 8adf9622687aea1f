"""Which solvers no other one beats: at least as many solved for less, in one currency and one kind of figure.

A point is a solver's pass@1 (up) over what one attempt takes it (across), attempts averaged within a task and then
tasks equally. A point is on the frontier unless another one solves no less for no more, and one of the two is strict.
The hull is the frontier's upper convex part: what a mix of solvers could not beat either. How often a point is on the
frontier among resamples of the tasks, the same for all points, tells how much of its place is the choice of tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from harness.records import Count, Record
from scoring.expense import Axis
from scoring.figures import DecimalString, decimal
from scoring.statistics.bootstrap import RESAMPLES, places, words


@dataclass(frozen=True)
class Contestant:
    """What a point is made from.

    Args:
        name: as it is shown; says how the result came about where it isn't simply the attempts'.
        solver: whose attempts they are.
        rates: by task, the mean of the attempts that count; tasks without one are left out.
        spent: by task, what one attempt takes, over all tries.
        covered: tries whose part is known, of
        of: so many.
        reason: why the point is not ranked; empty where it is.
    """

    name: str
    solver: str
    rates: Mapping[str, Fraction]
    spent: Mapping[str, Fraction]
    covered: int
    of: int
    reason: str = ""


class Point(Record):
    """A solver in one currency. ``spent`` is None where a part is unknown; ``at_least`` is what is known."""

    name: str
    solver: str
    rate: DecimalString | None
    spent: DecimalString | None
    at_least: DecimalString
    covered: Count
    of: Count
    reason: str = ""
    """Why it is kept off the frontier; empty where it is ranked."""
    frontier: bool
    hull: bool
    membership: DecimalString | None
    """The share of resamples in which it is on the frontier; None where it is not ranked."""


class Frontier(Record):
    """Points of one currency and one kind, which alone compare."""

    axis: Axis
    group: str
    points: tuple[Point, ...]
    resamples: Count


Coordinates = Sequence[tuple[Fraction, Fraction]]
"""What is spent, and the rate."""


def frontier(
    axis: Axis, group: str, contestants: Sequence[Contestant], tasks: Sequence[str], seed: int = 0
) -> Frontier:
    """The frontier of some contestants, all of the same currency and kind."""
    ranked = [one for one in contestants if _why_off(one) == ""]
    at = [(_mean(one.spent), _mean(one.rates)) for one in ranked]
    best, hull = undominated(at), on_hull(at)
    often = _memberships(ranked, tasks, f"frontier {axis.value}", seed)
    place = {id(one): n for n, one in enumerate(ranked)}
    return Frontier(
        axis=axis,
        group=group,
        points=tuple(
            _point(
                one,
                frontier=(n := place.get(id(one), -1)) in best,
                hull=n in hull,
                membership=None if n < 0 else often[n],
            )
            for one in contestants
        ),
        resamples=RESAMPLES if ranked else 0,
    )


def undominated(points: Coordinates) -> set[int]:
    """The places of those that no other point beats; of equal points, all."""
    found: set[int] = set()
    best: Fraction | None = None
    for spent, rows in _by_spent(points):
        top = max(points[n][1] for n in rows)
        if best is None and spent > 0:
            best = Fraction(0)
        if best is None or top > best:
            found |= {n for n in rows if points[n][1] == top}
            best = top
    return found


def on_hull(points: Coordinates) -> set[int]:
    """The places of the undominated points on the upper convex hull."""
    kept: list[list[int]] = []
    order = sorted(undominated(points))
    for _, rows in _by_spent([points[n] for n in order]):
        new = [order[n] for n in rows]
        while len(kept) > 1 and _above(points[kept[-2][0]], points[kept[-1][0]], points[new[0]]) <= 0:
            kept.pop()
        kept.append(new)
    return {n for rows in kept for n in rows}


def _above(
    left: tuple[Fraction, Fraction], middle: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]
) -> Fraction:
    """How far the middle point is above the line of the other two, times what lies between them."""
    across, up = right[0] - left[0], right[1] - left[1]
    return (middle[1] - left[1]) * across - (middle[0] - left[0]) * up


def _by_spent(points: Coordinates) -> list[tuple[Fraction, list[int]]]:
    rows: dict[Fraction, list[int]] = {}
    for n, (spent, _) in enumerate(points):
        rows.setdefault(spent, []).append(n)
    return sorted(rows.items())


def _why_off(one: Contestant) -> str:
    return one.reason or ("" if one.rates else "no attempt counts") or ("" if one.spent else "no try ran")


def _point(one: Contestant, *, frontier: bool, hull: bool, membership: Fraction | None) -> Point:
    whole = one.covered == one.of and bool(one.spent)
    spent = _mean(one.spent)
    return Point(
        name=one.name,
        solver=one.solver,
        rate=decimal(_mean(one.rates)) if one.rates else None,
        spent=decimal(spent) if whole else None,
        at_least=decimal(spent),
        covered=one.covered,
        of=one.of,
        reason=_why_off(one),
        frontier=frontier,
        hull=hull,
        membership=None if membership is None else decimal(membership),
    )


def _mean(values: Mapping[str, Fraction]) -> Fraction:
    return sum(values.values(), Fraction()) / len(values) if values else Fraction()


def _memberships(ranked: Sequence[Contestant], tasks: Sequence[str], purpose: str, seed: int) -> list[Fraction]:
    """The share of resamples of the tasks in which each is undominated."""
    counts = [0] * len(ranked)
    tables = [(_Column(one.spent, tasks), _Column(one.rates, tasks)) for one in ranked]
    for number in range(RESAMPLES if ranked else 0):
        drawn = places(words(purpose, seed, number, len(tasks)), len(tasks))
        for n in undominated([(spent.mean(drawn), rates.mean(drawn)) for spent, rates in tables]):
            counts[n] += 1
    return [Fraction(count, RESAMPLES) for count in counts]


class _Column:
    """One value for each task, as whole numbers over one denominator; tasks without a value are left out of means."""

    def __init__(self, values: Mapping[str, Fraction], tasks: Sequence[str]) -> None:
        self._scale = math.lcm(*(value.denominator for value in values.values()))
        self._values = [int(values.get(task, 0) * self._scale) for task in tasks]
        self._there = [task in values for task in tasks]

    def mean(self, drawn: Sequence[int]) -> Fraction:
        """The mean over drawn tasks."""
        known = sum(map(self._there.__getitem__, drawn))
        return Fraction(sum(map(self._values.__getitem__, drawn)), known * self._scale) if known else Fraction()
