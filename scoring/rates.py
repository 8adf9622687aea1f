"""A solver's rates: pass@1, pass@k and pass^k, with intervals, over the attempts that count and over all that were
planned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Record
from scoring.figures import DecimalString, decimal
from scoring.statistics.bootstrap import percentiles, two_level
from scoring.statistics.chances import pass_all, pass_at, shown_ks
from scoring.statistics.interval import (
    LEVEL,
    Interval,
    Method,
    Sample,
    clustered_t,
    counted,
    effective_tries,
    interval,
    rate_interval,
    sample,
    standard_error,
)
from scoring.statistics.paired import detectable_of_two

Outcomes = Mapping[str, Sequence[Outcome]]
"""By task, how its planned attempts ended."""
Counts = Sequence[tuple[int, int]]
"""By task, how many attempts were solved, and how many there are."""


class Estimate(Record):
    """A rate averaged over tasks, with its intervals; the first is the one that is shown.

    ``value`` is None where a task has too few attempts; ``over_available`` is then over the ``available`` of ``of``
    tasks that have enough.
    """

    value: DecimalString | None
    reason: str = ""
    over_available: DecimalString | None
    available: Count
    of: Count
    intervals: tuple[Interval, ...]


class AtK(Record):
    """pass@k (one of k attempts solves) and pass^k (all of them do).

    ``raw`` takes every excluded attempt as a failure; the others are of the attempts that count.
    """

    k: Count
    pass_at: Estimate
    pass_at_raw: Estimate
    pass_all: Estimate
    pass_all_raw: Estimate


class Rates(Record):
    """All rates of one solver. Tasks are what was sampled: see ``docs/statistics.md``."""

    level: DecimalString
    """Of every interval here."""
    pass_at_1: Estimate
    pass_at_1_raw: Estimate
    standard_error: DecimalString | None
    """Of pass@1, with tasks as clusters; None under two tasks."""
    effective_tries: DecimalString | None
    """How many independent tries the attempts are worth."""
    minimum_detectable: DecimalString | None
    """How far another solver, as spread over tasks as this one, must be off to be told apart in 80% of all repetitions,
    if the two had nothing in common; pairing by task does better. None: it can't be told, or no difference is
    enough. Approximate below 30 tasks, and below 6 of no use: see ``docs/statistics.md``."""
    at: tuple[AtK, ...]


def rates(outcomes: Outcomes) -> Rates:
    """The rates of a solver from how its planned attempts ended."""
    planned = [(ended.count(Outcome.SOLVED), len(ended)) for ended in map(list, outcomes.values())]
    counting = [
        (won, sum(map(in_denominator, ended))) for (won, _), ended in zip(planned, outcomes.values(), strict=True)
    ]
    of = counted(counting)
    error, tries = standard_error(of), effective_tries(of)
    detectable = None if error is None else detectable_of_two(error, len(of.means))
    return Rates(
        level=decimal(LEVEL),
        pass_at_1=rate(of, len(planned), more=_resampled(counting)),
        pass_at_1_raw=rate(counted(planned), len(planned)),
        standard_error=None if error is None else decimal(error),
        effective_tries=None if tries is None else decimal(tries),
        minimum_detectable=None if detectable is None else decimal(detectable),
        at=tuple(
            AtK(
                k=k,
                pass_at=_at_k(counting, k, pass_at),
                pass_at_raw=_at_k(planned, k, pass_at),
                pass_all=_at_k(counting, k, pass_all),
                pass_all_raw=_at_k(planned, k, pass_all),
            )
            for k in shown_ks(max((len(ended) for ended in outcomes.values()), default=0))
        ),
    )


def rate(sample: Sample, of: int, *, more: Sequence[Interval] = ()) -> Estimate:
    """A rate over tasks; *of* is how many tasks there are, those without an attempt included."""
    if not sample.means:
        return Estimate(value=None, reason="no attempt counts", over_available=None, available=0, of=of, intervals=())
    shown, spread = rate_interval(sample), clustered_t(sample)
    intervals = [interval(*shown)] if shown is not None else []
    intervals += [interval(Method.CLUSTERED_T, spread)] if spread is not None else []
    mean = decimal(sample.mean)
    return Estimate(value=mean, over_available=mean, available=len(sample.means), of=of, intervals=(*intervals, *more))


def _resampled(tasks: Counts) -> list[Interval]:
    kept = [one for one in tasks if one[1]]
    if len(kept) < 2:
        return []
    return [interval(Method.BOOTSTRAP, percentiles(two_level(kept), LEVEL))]


def _at_k(tasks: Counts, k: int, chance: Callable[[int, int, int], Fraction | None]) -> Estimate:
    found = [chance(k, attempts, won) for won, attempts in tasks]
    known = [[one] for one in found if one is not None]
    whole = rate(sample(known), len(found))
    if len(known) == len(found):
        return whole
    reason = f"{len(found) - len(known)} of {len(found)} tasks have fewer than {k} attempts that count"
    return whole.model_copy(update={"value": None, "reason": reason, "intervals": ()})
