"""Intervals for a rate: of tasks with one attempt, of tasks with several, and by resampling.

A rate is a mean of values in 0..1, attempts averaged within a task and then tasks equally. Tasks are what was sampled;
attempts at one task are alike, so n attempts say less than n tasks would. ``docs/statistics.md`` has the table of
coverage by which the method that is shown was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from harness.records import Record
from scoring.figures import DecimalString, decimal
from scoring.statistics.student import Z95, quantile, root

LEVEL = Fraction(95, 100)
_DOUBT = Fraction(1, 4)
"""Of a task that is all won and of one that is all lost, added when the likeness of attempts is estimated."""

Grouped = Sequence[Sequence[Fraction]]
"""By task, the attempts' values; a task without any is left out."""


class Method(StrEnum):
    """How an interval came about."""

    WILSON = "wilson"
    """Of independent tries that each won or lost."""
    EFFECTIVE_WILSON = "effective_wilson"
    """Wilson's with as many tries as the spread over tasks says that the attempts are worth."""
    CLUSTERED_T = "clustered_t"
    BOOTSTRAP = "bootstrap"
    """Percentiles of resampled tasks and their resampled attempts."""


class Interval(Record):
    """Where a figure lies, at the level that stands beside it."""

    method: Method
    low: DecimalString
    high: DecimalString


Bounds = tuple[Fraction, Fraction]


def wilson(rate: Fraction, tries: Fraction, z: Fraction = Z95) -> Bounds:
    """Wilson's score interval (Wilson 1927) for a rate over so many independent tries."""
    squared = z * z
    centre = rate + squared / (2 * tries)
    half = z * root(rate * (1 - rate) / tries + squared / (4 * tries * tries))
    scale = 1 + squared / tries
    low, high = (centre - half) / scale, (centre + half) / scale
    return low if rate else Fraction(0), high if rate != 1 else Fraction(1)


@dataclass(frozen=True)
class Sample:
    """What a rate is made from: the mean of each task that has an attempt, and how many attempts there are.

    ``single`` says that each task has one attempt, which won or lost.
    """

    means: tuple[Fraction, ...]
    attempts: int
    single: bool

    @property
    def mean(self) -> Fraction:
        """Over tasks, equally; there is one."""
        return sum(self.means, Fraction()) / len(self.means)


def sample(grouped: Grouped) -> Sample:
    """Of the attempts' values by task."""
    kept = [values for values in grouped if values]
    return Sample(
        means=tuple(sum(values, Fraction()) / len(values) for values in kept),
        attempts=sum(map(len, kept)),
        single=all(len(values) == 1 and values[0] in {0, 1} for values in kept),
    )


def counted(tasks: Iterable[tuple[int, int]]) -> Sample:
    """Of how many attempts were won, and how many there are, by task."""
    kept = [(won, attempts) for won, attempts in tasks if attempts]
    return Sample(
        means=tuple(Fraction(won, attempts) for won, attempts in kept),
        attempts=sum(attempts for _, attempts in kept),
        single=all(attempts == 1 for _, attempts in kept),
    )


def standard_error(of: Sample) -> Fraction | None:
    """Of the mean over tasks, with tasks as clusters and the finite-cluster factor; None under two tasks.

    Every task weighs the same, so it is s / sqrt(G) of the G task means (Miller, arXiv 2411.00640, appendix A).
    """
    tasks = len(of.means)
    if tasks < 2:
        return None
    centre = of.mean
    return root(sum(((mean - centre) ** 2 for mean in of.means), Fraction()) / (tasks * (tasks - 1)))


def clustered_t(of: Sample) -> Bounds | None:
    """The mean over tasks give or take Student's t times its standard error, within 0..1; None under two tasks."""
    error = standard_error(of)
    if error is None:
        return None
    centre, half = of.mean, quantile(LEVEL, len(of.means) - 1) * error
    return max(centre - half, Fraction(0)), min(centre + half, Fraction(1))


def effective_tries(of: Sample) -> Fraction | None:
    """How many independent tries the attempts are worth: between the number of tasks and that of attempts.

    It is p (1 - p) over the variance of the mean (Korn and Graubard 1998). Where few tasks were won, or few lost, their
    spread says little about how alike attempts at one task are, and would often say that they aren't at all; so a
    quarter of a task that is all won, and of one that is all lost, are added, which pull towards the number of tasks.
    """
    tasks = len(of.means)
    if not tasks:
        return None
    weight = tasks + 2 * _DOUBT
    rate = (sum(of.means, Fraction()) + _DOUBT) / weight
    squares = sum(((mean - rate) ** 2 for mean in of.means), Fraction()) + _DOUBT * ((1 - rate) ** 2 + rate**2)
    worth = tasks * rate * (1 - rate) * (weight - 1) / squares
    return min(max(worth, Fraction(tasks)), Fraction(of.attempts))


def rate_interval(of: Sample) -> tuple[Method, Bounds] | None:
    """The interval that is shown for a rate; None where there is nothing to go by.

    With one attempt a task that won or lost it is Wilson's. Else it is Wilson's with the effective number of tries and
    Student's t, whose degrees of freedom are the tasks less one; one task alone says nothing of others.
    """
    tasks, tries = len(of.means), effective_tries(of)
    if tries is None or (tasks < 2 and not of.single):
        return None
    if of.single:
        return Method.WILSON, wilson(of.mean, Fraction(tasks))
    return Method.EFFECTIVE_WILSON, wilson(of.mean, tries, quantile(LEVEL, tasks - 1))


def interval(method: Method, bounds: Bounds) -> Interval:
    """As it stands on a card."""
    return Interval(method=method, low=decimal(bounds[0]), high=decimal(bounds[1]))
