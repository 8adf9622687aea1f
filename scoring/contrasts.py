"""Solvers of one card against each other: paired differences of pass@1, with chance findings among many kept at 5%."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from harness.records import Record
from scoring.figures import DecimalString, decimal, task_mean
from scoring.statistics.paired import ALPHA, Paired, Verdict, holm, paired

ALL_PAIRS_UP_TO = 5
"""With more solvers than this only the best is compared, with each of the others."""

Values = Mapping[str, Sequence[Fraction]]
"""By task, the values of the attempts that count."""


class Contrast(Record):
    """The first solver against the second, over the tasks that both have counting attempts at."""

    first: str
    second: str
    paired: Paired
    """As if this were the only comparison."""
    p_adjusted: DecimalString
    """By Holm (1979), over all comparisons of the card."""
    verdict: Verdict
    """With the adjusted p-value."""


def contrasts(rows: Mapping[str, Values]) -> tuple[Contrast, ...]:
    """Every pair of solvers, or the best against each other one where that would be many. *rows* is by solver."""
    found = [
        (first, second, paired(rows[first], rows[second]))
        for first, second in _pairs(rows)
        if any(rows[first][task] and rows[second].get(task) for task in rows[first])
    ]
    adjusted = holm([Fraction(result.p_paired) for *_, result in found])
    return tuple(
        Contrast(
            first=first,
            second=second,
            paired=result,
            p_adjusted=decimal(p_value),
            verdict=result.verdict if p_value < ALPHA else Verdict.NOT_SEPARATED,
        )
        for (first, second, result), p_value in zip(found, adjusted, strict=True)
    )


def _pairs(rows: Mapping[str, Values]) -> list[tuple[str, str]]:
    if len(rows) <= ALL_PAIRS_UP_TO:
        return list(combinations(rows, 2))
    best = max(rows, key=lambda name: task_mean(rows[name].values()) or Fraction())
    return [(best, other) for other in rows if other != best]
