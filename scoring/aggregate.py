"""A solver's results over its planned cells: attempts averaged within a task, then tasks equally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Record
from scoring.figures import Figure, Mean, decimal, known, mean, missing, task_mean

INCOMPLETE_ABOVE = Fraction(1, 10)
"""With a larger share of planned cells excluded, a row is incomplete."""


@dataclass(frozen=True)
class Result:
    """One ended cell, as far as the aggregates need it."""

    task: str
    outcome: Outcome
    figures: Mapping[str, Figure]


class Aggregate(Record):
    """A solver's row.

    ``pass_at_1`` is over the cells that count; ``pass_at_1_raw`` takes every excluded cell as a failure.
    ``tasks_counted`` says over how many of ``tasks`` the first is averaged.
    """

    planned: Count
    counted: Count
    solved: Count
    outcomes: dict[Outcome, Count]
    """Every outcome that occurred."""
    excluded: dict[Outcome, Count]
    """Those of them that leave the denominator."""
    incomplete: bool
    tasks: Count
    tasks_counted: Count
    pass_at_1: Figure
    pass_at_1_raw: Figure
    f: Mean
    q: Mean
    s: Mean
    c: Mean
    combined: Mean
    combined_classic: Mean


def aggregate(results: Sequence[Result]) -> Aggregate:
    """The row of one solver, from all its planned cells in planned order."""
    tasks = list(dict.fromkeys(one.task for one in results))
    counted = [one for one in results if in_denominator(one.outcome)]
    excluded = [one for one in results if not in_denominator(one.outcome)]
    adjusted = task_mean([[_won(one) for one in counted if one.task == task] for task in tasks])
    raw = task_mean([[_won(one) for one in results if one.task == task] for task in tasks])
    means = {
        name: mean([[one.figures[name] for one in counted if one.task == task] for task in tasks])
        for name in ("f", "q", "s", "c", "combined", "combined_classic")
    }
    return Aggregate(
        planned=len(results),
        counted=len(counted),
        solved=sum(one.outcome is Outcome.SOLVED for one in results),
        outcomes=_count(results),
        excluded=_count(excluded),
        incomplete=len(excluded) > INCOMPLETE_ABOVE * len(results),
        tasks=len(tasks),
        tasks_counted=len({one.task for one in counted}),
        pass_at_1=missing("no attempt counts") if adjusted is None else known(adjusted),
        pass_at_1_raw=missing("nothing was planned") if raw is None else Figure(value=decimal(raw)),
        **means,
    )


def _won(one: Result) -> Fraction:
    return Fraction(one.outcome is Outcome.SOLVED)


def _count(results: Sequence[Result]) -> dict[Outcome, int]:
    return {outcome: number for outcome in Outcome if (number := sum(one.outcome is outcome for one in results))}
