"""Exact figures: fractions inside, decimal strings on a card, and means that never invent what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.records import Count, Record

PLACES = 6
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


def task_mean(by_task: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """Attempts averaged within a task, then tasks equally; tasks without an attempt are left out (None if all are)."""
    means = [sum(values, Fraction()) / len(values) for values in by_task if values]
    return sum(means, Fraction()) / len(means) if means else None


def mean(by_task: Sequence[Sequence[Figure]]) -> Mean:
    """The mean of figures grouped by task: of the figures as the card shows them, so that a reader can check it."""
    figures = [figure for task in by_task for figure in task]
    reasons = sorted({figure.reason for figure in figures if figure.value is None})
    average = task_mean([[f.fraction for f in task if f.fraction is not None] for task in by_task])
    over_available = None if average is None else decimal(average)
    if not figures:
        reasons = ["no attempt counts"]
    return Mean(
        value=None if reasons else over_available,
        reason="; ".join(reasons),
        over_available=over_available,
        available=sum(figure.value is not None for figure in figures),
        of=len(figures),
    )
