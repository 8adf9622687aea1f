"""pass@1 within shorter limits than the run's own, worked out afterwards from how long solvers took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Record
from scoring.figures import by_task
from scoring.rates import Estimate, rate
from scoring.statistics.interval import counted

LIMITS_S = (600, 1800)


@dataclass(frozen=True)
class Timed:
    """How a planned cell ended, and how long its solver took in the try that ended it; None where nobody knows."""

    task: str
    outcome: Outcome
    wall_us: int | None


class Within(Record):
    """Solved within ``limit_s`` of the solver's start. It is not what a run with that limit would have come to: an
    agent that knows its limit works otherwise."""

    limit_s: Count
    pass_at_1: Estimate
    pass_at_1_raw: Estimate
    """With every excluded attempt as a failure."""


def within(cells: Sequence[Timed]) -> tuple[Within, ...]:
    """pass@1 within each limit."""
    counted = [one for one in cells if in_denominator(one.outcome)]
    return tuple(
        Within(limit_s=limit, pass_at_1=_rate(counted, cells, limit), pass_at_1_raw=_rate(cells, cells, limit))
        for limit in LIMITS_S
    )


def _rate(cells: Sequence[Timed], planned: Sequence[Timed], limit_s: int) -> Estimate:
    tasks = len({one.task for one in planned})
    unknown = sum(one.outcome is Outcome.SOLVED and one.wall_us is None for one in cells)
    if unknown:
        reason = f"how long {unknown} solved attempts took is not known"
        return Estimate(value=None, reason=reason, over_available=None, available=0, of=tasks, intervals=())
    grouped = by_task((one.task, _won(one, limit_s)) for one in cells)
    return rate(counted((sum(won), len(won)) for won in grouped.values()), tasks)


def _won(one: Timed, limit_s: int) -> bool:
    return one.outcome is Outcome.SOLVED and one.wall_us is not None and one.wall_us <= limit_s * 10**6
