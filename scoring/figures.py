"""Exact figures: fractions inside, decimal strings on a card, and means that never invent what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Self, TypeVar

from pydantic import Field, model_validator

from harness.records import Count, Record

PLACES = 6
T = TypeVar("T")
DecimalString = Annotated[str, Field(pattern=r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$")]


def decimal(value: Fraction) -> str:
    """A fraction as a decimal string of six places, half to even: the same bytes on every machine."""
    scaled = round(value * 10**PLACES)
    whole, rest = divmod(abs(scaled), 10**PLACES)
    return f"{'-' if scaled < 0 else ''}{whole}.{rest:0{PLACES}d}"


class Figure(Record):
    """A figure, or the reason why there is none; never both and never neither."""

    value: DecimalString | None
    reason: str = ""

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if (self.value is None) != bool(self.reason):
            raise ValueError("a figure has a value or a reason")
        return self

    @property
    def fraction(self) -> Fraction | None:
        """The exact value."""
        return None if self.value is None else Fraction(self.value)


def known(value: Fraction) -> Figure:
    """A figure that there is."""
    return Figure(value=decimal(value))


def missing(reason: str) -> Figure:
    """A figure that could not be had."""
    return Figure(value=None, reason=reason)


class Mean(Record):
    """A mean over tasks, each task the mean of its attempts.

    ``value`` is None as soon as one attempt has no figure; then ``over_available`` is the mean of those that have one,
    which are ``available`` of ``of``.
    """

    value: DecimalString | None
    reason: str = ""
    over_available: DecimalString | None
    available: Count
    of: Count


def by_task(results: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Results grouped by task id, in the order in which tasks first occur."""
    found: dict[str, list[T]] = {}
    for task, one in results:
        found.setdefault(task, []).append(one)
    return found


def task_mean(grouped: Iterable[Sequence[Fraction]]) -> Fraction | None:
    """Attempts averaged within a task, then tasks equally; tasks without an attempt are left out (None if all are)."""
    means = [sum(values, Fraction()) / len(values) for values in grouped if values]
    return sum(means, Fraction()) / len(means) if means else None


@dataclass
class Sum:
    """What the attempts at one task come to in one figure; shares of it, from parts of a card, add up."""

    millionths: int | Fraction = 0
    available: int = 0
    of: int = 0
    reasons: set[str] = field(default_factory=set)

    def add(self, value: str | None, reason: str, times: int = 1) -> None:
        """Take in a figure as a card shows it, so that a reader can check the mean; *times* attempts have the same."""
        self.of += times
        if value is None:
            self.reasons.add(reason)
        else:
            self.available += times
            self.millionths += times * _millionths(value)

    def take(self, other: Sum) -> None:
        """Take in what other attempts at the same task come to."""
        self.millionths += other.millionths
        self.available += other.available
        self.of += other.of
        self.reasons |= other.reasons


def _millionths(value: str) -> int | Fraction:
    """Six places are read as whole millionths, an order of magnitude faster than a fraction is."""
    return int(value[:-7] + value[-6:]) if value[-7:-6] == "." else Fraction(value) * 10**PLACES


def mean(grouped: Sequence[Sequence[Figure]]) -> Mean:
    """The mean of figures grouped by task: of the figures as the card shows them, so that a reader can check it."""
    sums = []
    for task in grouped:
        sums.append(Sum())
        for figure in task:
            sums[-1].add(figure.value, figure.reason)
    return mean_of(sums)


def mean_of(tasks: Sequence[Sum]) -> Mean:
    """The same from what each task comes to."""
    reasons = sorted(set[str]().union(*(task.reasons for task in tasks)))
    means = [Fraction(task.millionths, task.available) for task in tasks if task.available]
    over_available = decimal(sum(means, Fraction()) / len(means) / 10**PLACES) if means else None
    of = sum(task.of for task in tasks)
    if not of:
        reasons = ["no attempt counts"]
    return Mean(
        value=None if reasons else over_available,
        reason="; ".join(reasons),
        over_available=over_available,
        available=sum(task.available for task in tasks),
        of=of,
    )
