"""A solver's results over its planned cells: attempts averaged within a task, then tasks equally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Grown
from scoring.figures import Figure, Mean, Sum, by_task, decimal, known, mean_of, missing, task_mean
from scoring.rates import Rates, rates

INCOMPLETE_ABOVE = Fraction(1, 10)
"""With a larger share of planned cells excluded, a row is incomplete."""
FIGURES = ("f", "q", "s", "c", "combined", "combined_classic")
"""Of each cell, averaged over the cells that count."""


@dataclass(frozen=True)
class Result:
    """One ended cell, as far as the aggregates need it."""

    task: str
    outcome: Outcome
    figures: Mapping[str, Figure]


class Aggregate(Grown):
    """A solver's row.

    ``pass_at_1`` is over the cells that count; ``pass_at_1_raw`` takes every excluded cell as a failure.
    ``tasks_counted`` says over how many of ``tasks`` the first is averaged.
    """

    later = frozenset({"rates"})

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
    rates: Rates | None = None
    """With intervals; None on a card from before there were any."""


@dataclass
class Tally:
    """How the attempts at one task ended, and what those that count come to in each figure."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    figures: dict[str, Sum] = field(default_factory=lambda: {name: Sum() for name in FIGURES})

    @property
    def counted(self) -> int:
        """How many count."""
        return sum(number for outcome, number in self.outcomes.items() if in_denominator(outcome))

    @property
    def solved(self) -> int:
        """How many of them are solved."""
        return self.outcomes[Outcome.SOLVED]

    def take(self, other: Tally) -> None:
        """Take in other attempts at the same task."""
        self.outcomes += other.outcomes
        for name, one in other.figures.items():
            self.figures[name].take(one)


def aggregate(results: Sequence[Result], *, with_rates: bool = True) -> Aggregate:
    """The row of one solver, from all its planned cells in planned order."""
    tasks: dict[str, Tally] = {}
    for one in results:
        tally = tasks.setdefault(one.task, Tally())
        tally.outcomes[one.outcome] += 1
        if in_denominator(one.outcome):
            for name, total in tally.figures.items():
                total.add(one.figures[name].value, one.figures[name].reason)
    return aggregate_of(tasks, with_rates=with_rates)


def aggregate_of(tasks: Mapping[str, Tally], *, with_rates: bool = True) -> Aggregate:
    """The same from what its attempts come to by task, in planned order."""
    outcomes = sum((one.outcomes for one in tasks.values()), Counter[Outcome]())
    excluded = Counter({outcome: number for outcome, number in outcomes.items() if not in_denominator(outcome)})
    scored = {name: one for name, one in tasks.items() if one.counted}
    adjusted = task_mean([Fraction(one.solved, one.counted)] for one in scored.values())
    raw = task_mean([Fraction(one.solved, one.outcomes.total())] for one in tasks.values())
    planned = outcomes.total()
    return Aggregate(
        planned=planned,
        counted=planned - excluded.total(),
        solved=outcomes[Outcome.SOLVED],
        outcomes=_in_order(outcomes),
        excluded=_in_order(excluded),
        incomplete=excluded.total() > INCOMPLETE_ABOVE * planned,
        tasks=len(tasks),
        tasks_counted=len(scored),
        pass_at_1=missing("no attempt counts") if adjusted is None else known(adjusted),
        pass_at_1_raw=missing("nothing was planned") if raw is None else Figure(value=decimal(raw)),
        **{name: mean_of([one.figures[name] for one in scored.values()]) for name in FIGURES},
        rates=rates({name: [*one.outcomes.elements()] for name, one in tasks.items()}) if with_rates else None,
    )


def counting(results: Sequence[Result]) -> dict[str, list[Fraction]]:
    """By task, 1 for each attempt that counts and is solved, 0 for each other that counts."""
    return by_task((one.task, _won(one)) for one in results if in_denominator(one.outcome))


def counting_of(tasks: Mapping[str, Tally]) -> dict[str, list[Fraction]]:
    """The same from what its attempts come to by task, the solved ones first."""
    return {
        name: [Fraction(1)] * one.solved + [Fraction()] * (one.counted - one.solved)
        for name, one in tasks.items()
        if one.counted
    }


def _won(one: Result) -> Fraction:
    return Fraction(one.outcome is Outcome.SOLVED)


def _in_order(outcomes: Counter[Outcome]) -> dict[Outcome, int]:
    return {outcome: outcomes[outcome] for outcome in Outcome if outcomes[outcome]}
