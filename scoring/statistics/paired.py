"""Two solvers on the same tasks: the paired difference with its interval, and whether it separates them.

Differences are taken within a task and tasks are what is sampled, so however many attempts a task had, it counts once
(Miller, arXiv 2411.00640). Everything is exact until it is rounded to six places. The verdict is that of the interval;
McNemar's exact p-value stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from harness.records import Count, Record
from scoring.figures import DecimalString, decimal
from scoring.statistics.student import Z95, normal_two_sided, quantile, root, two_sided

LEVEL = Fraction(95, 100)
ALPHA = 1 - LEVEL
POWER = Fraction(80, 100)
LEAST_TASKS = 3
"""With two tasks the t test finds a difference between equal solvers in up to 12.5% of comparisons; so it is not
used."""
SHOWN_FROM = 6
"""Tasks from which on a report shows what is detectable: with fewer, most comparisons have no such figure, and where
there is one, a difference of that size can be found in as few as 42%."""
APPROXIMATE_BELOW = 30
"""Tasks below which a report marks it with ``~``: from there on it is found in 80% give or take 3; with 6 to 29 tasks
in 75 to 88%. The table by size is in ``docs/statistics.md``."""
METHOD = "paired t over tasks, 95%"


class Verdict(StrEnum):
    """Of the first solver against the second."""

    BETTER = "better"
    WORSE = "worse"
    NOT_SEPARATED = "not_separated"


class Paired(Record):
    """The difference first minus second, in the unit of the values that were compared."""

    tasks: Count
    cells: Count
    """Attempts of both sides together that went into it."""
    difference: DecimalString
    low: DecimalString
    high: DecimalString
    p_value: DecimalString
    """McNemar's, exact, over the tasks that were won and lost; with several attempts, the sign test over tasks."""
    p_paired: DecimalString
    """Of the paired t test: it is under 0.05 exactly where the interval leaves out 0."""
    method: str
    minimum_detectable: DecimalString | None
    """The true difference that a comparison like this one finds in 80% of all repetitions; None: it can't be told.
    Approximate below 30 tasks, and below 6 of no use: see ``docs/statistics.md``."""
    verdict: Verdict
    won: Count
    """Tasks on which the first did better."""
    lost: Count
    tied: Count


def paired(
    first: Mapping[str, Sequence[Fraction]],
    second: Mapping[str, Sequence[Fraction]],
) -> Paired:
    """Compare two solvers.

    Args:
        first: by task id, the attempts' values in 0..1.
        second: the same of the other. Tasks that are scored on one side only are left out; that the two may be
            compared at all is for the caller to know.

    Raises:
        ValueError: no task is scored on both sides.
    """
    common = [task for task in first if first[task] and second.get(task)]
    if not common:
        raise ValueError("no task is scored on both sides")
    steps = [_mean(first[task]) - _mean(second[task]) for task in common]
    won, lost = sum(step > 0 for step in steps), sum(step < 0 for step in steps)
    centre = sum(steps, Fraction()) / len(steps)
    test = _test(steps, centre)
    return Paired(
        tasks=len(common),
        cells=sum(len(first[task]) + len(second[task]) for task in common),
        difference=decimal(centre),
        low=decimal(test.low),
        high=decimal(test.high),
        p_value=decimal(mcnemar(won, lost)),
        p_paired=decimal(test.p_value),
        method=METHOD,
        minimum_detectable=None if test.detectable is None else decimal(test.detectable),
        verdict=_verdict(test.low, test.high),
        won=won,
        lost=lost,
        tied=len(steps) - won - lost,
    )


def detectable_of_two(error: Fraction, tasks: int) -> Fraction | None:
    """The difference that a test of this many tasks finds in 80% of all repetitions between two solvers whose means
    each have this standard error and nothing in common; None where there is no such test, or no difference is
    enough."""
    if tasks < LEAST_TASKS or not error:
        return None
    return _detectable(2 * error * error, tasks)


def mcnemar(won: int, lost: int) -> Fraction:
    """The exact two-sided p-value of McNemar's test: of a fair coin, at least as lopsided as this."""
    tosses = won + lost
    tail = sum(math.comb(tosses, n) for n in range(min(won, lost) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**tosses))


def holm(p_values: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Holm's adjusted p-values, in the order given: each holds the chance of one false finding among all of them."""
    adjusted = [Fraction(1)] * len(p_values)
    highest = Fraction(0)
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(Fraction(1), (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


@dataclass(frozen=True)
class _Test:
    """The paired test: bounds of the difference, its p-value, and what it could have found."""

    low: Fraction
    high: Fraction
    p_value: Fraction
    detectable: Fraction | None


def _test(steps: Sequence[Fraction], centre: Fraction) -> _Test:
    tasks = len(steps)
    spread = sum(((step - centre) ** 2 for step in steps), Fraction())
    if tasks < LEAST_TASKS:
        return _Test(Fraction(-1), Fraction(1), Fraction(1), None)
    if not spread:
        return _without_spread(tasks, centre)
    error, freedom = root(spread / (tasks * (tasks - 1))), tasks - 1
    half = quantile(LEVEL, freedom) * error
    detectable = _detectable(error * error, tasks)
    return _Test(
        low=max(centre - half, Fraction(-1)),
        high=min(centre + half, Fraction(1)),
        p_value=two_sided(centre / error, freedom),
        detectable=detectable,
    )


def _without_spread(tasks: int, centre: Fraction) -> _Test:
    """Every task gives the same difference. By Wilson's interval at most z^2 / (G + z^2) of all tasks give another one,
    which may be as far off as -1 or 1."""
    others = Z95 * Z95 / (tasks + Z95 * Z95)
    return _Test(
        low=centre - (1 + centre) * others,
        high=centre + (1 - centre) * others,
        p_value=normal_two_sided(tasks * abs(centre)),
        detectable=None,
    )


def _detectable(variance: Fraction, tasks: int) -> Fraction | None:
    """What is found in 80% of all repetitions: two quantiles of Student's t times the standard error, and that times
    sqrt(G / (G - 1)), since where the difference is large its estimated spread is small. The table of simulated power
    in ``docs/statistics.md`` is what speaks for it."""
    quantiles = quantile(LEVEL, tasks - 1) + quantile(2 * POWER - 1, tasks - 1)
    found = quantiles * root(variance * tasks / (tasks - 1))
    return found if found <= 1 else None


def _verdict(low: Fraction, high: Fraction) -> Verdict:
    if low > 0:
        return Verdict.BETTER
    return Verdict.WORSE if high < 0 else Verdict.NOT_SEPARATED
