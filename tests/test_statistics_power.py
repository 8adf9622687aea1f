"""How often a difference as large as the printed detectable one is found, and equal solvers are told apart, by size.

``paired`` is exact and slow, so many pairs are judged here at once in floats; that the two agree is the first test.
What `docs/statistics.md` says of it is read from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from scoring.statistics.paired import APPROXIMATE_BELOW, SHOWN_FROM, Verdict, paired
from tests.test_statistics_simulated import values
from tests.test_statistics_simulated import ways as ways_of

PAGE = (Path(__file__).parent.parent / "docs" / "statistics.md").read_text(encoding="utf-8")
SETTINGS = list(product((1, 3), (0.1, 0.5), (0, 0.3, 0.7)))
"""Attempts, the worse solver's rate, correlation of attempts at one task: those that the page names."""
GRID = 12
"""Differences that are tried before the interval with the printed one is halved."""


@dataclass(frozen=True)
class Judged:
    """Of many pairs, by pair: whether the first is better or worse, and what is detectable (NaN: no figure)."""

    better: np.ndarray
    worse: np.ndarray
    detectable: np.ndarray

    @property
    def printed(self) -> float:
        """The mean of the figures; infinite where there is none."""
        known = self.detectable[~np.isnan(self.detectable)]
        return float(known.mean()) if len(known) else np.inf

    @property
    def without_figure(self) -> float:
        return float(np.isnan(self.detectable).mean())


def judged(steps: np.ndarray, variance: np.ndarray | None = None) -> Judged:
    """By differences (pair x task), as ``paired`` does; *variance* of the mean, where the figure is of another."""
    tasks = steps.shape[1]
    centre, same = steps.mean(1), (steps == steps[:, :1]).all(1)
    error = np.sqrt(np.where(same, 1, steps.var(1, ddof=1) / tasks))
    t = stats.t.ppf(0.975, tasks - 1)
    others = stats.norm.ppf(0.975) ** 2 / (tasks + stats.norm.ppf(0.975) ** 2)
    low = np.where(same, centre - (1 + centre) * others, centre - t * error)
    high = np.where(same, centre + (1 - centre) * others, centre + t * error)
    spread = np.where(same, 0, error**2) if variance is None else variance
    found = (t + stats.t.ppf(0.8, tasks - 1)) * np.sqrt(spread * tasks / (tasks - 1))
    return Judged(low > 1e-9, high < -1e-9, np.where((found > 0) & (found <= 1), found, np.nan))


class Drawn:
    """Many pairs of solvers from one set of random numbers, so that what is found varies smoothly with how far apart
    they are."""

    def __init__(self, seed: int, tasks: int, setting: tuple[int, float, float], count: int) -> None:
        self.attempts, self.rate, alike = setting
        drawn = np.random.default_rng(seed)
        scale = (1 - alike) / alike if alike else 0
        self.rates = (
            drawn.beta(self.rate * scale, (1 - self.rate) * scale, (count, tasks))
            if alike
            else np.full((count, tasks), self.rate)
        )
        self.tries = drawn.random((2, self.attempts, count, tasks))

    def solved(self, apart: float) -> tuple[np.ndarray, np.ndarray]:
        """Of the better solver, by pair and task, and of the other."""
        better = self.rates + (1 - self.rates) * apart / (1 - self.rate)
        return (self.tries[0] < better).sum(0), (self.tries[1] < self.rates).sum(0)

    def judged(self, apart: float) -> Judged:
        first, second = self.solved(apart)
        return judged((first - second) / self.attempts)


def as_printed(tasks: int, setting: tuple[int, float, float]) -> float | None:
    """How far apart solvers are for whom that very difference is printed, on average; None: there are none."""
    drawn = Drawn(80, tasks, setting, 3000)
    most = 1 - drawn.rate
    for step in range(1, GRID + 1):
        low, high = most * (step - 1) / GRID, most * step / GRID
        if drawn.judged(high).printed <= high:
            break
    else:
        return None
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if drawn.judged(middle).printed <= middle else (middle, high)
    return (low + high) / 2


@pytest.mark.parametrize("tasks", [3, 4, 6, 10, 16, 30])
def test_pairs_are_judged_here_as_by_the_product(tasks: int) -> None:
    for setting, apart in product(((1, 0.5, 0.3), (3, 0.5, 0.3), (3, 0.1, 0)), (0, 0.3)):
        drawn = Drawn(5, tasks, setting, 40)
        ours = drawn.judged(apart)
        for n, (first, second) in enumerate(zip(*drawn.solved(apart), strict=True)):
            theirs = paired(values(first, setting[0]), values(second, setting[0]))
            assert (ours.better[n], ours.worse[n]) == (
                theirs.verdict is Verdict.BETTER,
                theirs.verdict is Verdict.WORSE,
            )
            expected = np.nan if theirs.minimum_detectable is None else float(theirs.minimum_detectable)
            assert ours.detectable[n] == pytest.approx(expected, abs=1e-6, nan_ok=True)


# ---------------------------------------------------------------------------------------------------------------- power


ROWS = {
    int(tasks): (int(having), int(least), int(most), int(without))
    for tasks, having, least, most, without in re.findall(
        r"^\| (\d+) \| (\d+) of 12 \| (\d+) to (\d+) \| (\d+) \|$", PAGE, re.MULTILINE
    )
}
"""The page's: by tasks, in how many settings there is such a difference, how often it is found in per cent (least and
most), and how many comparisons have no figure (most)."""


def test_the_page_speaks_of_the_sizes_of_suites() -> None:
    assert {3, 4, 6, 10, 16, 30, 100} <= set(ROWS)


@pytest.mark.parametrize("tasks", ROWS)
def test_what_is_printed_as_detectable_is_found_as_often_as_the_page_says(tasks: int) -> None:
    having, least, most, without = ROWS[tasks]
    found, missing = [], []
    for setting in SETTINGS:
        if (apart := as_printed(tasks, setting)) is not None:
            those = Drawn(81, tasks, setting, 10_000).judged(apart)
            assert those.printed == pytest.approx(apart, abs=0.012)
            found.append(100 * float(those.better.mean()))
            missing.append(100 * those.without_figure)
    said = f"{tasks} tasks: {len(found)} of 12, {min(found):.1f} to {max(found):.1f}, {max(missing):.1f}"
    assert len(found) == having, said
    assert min(found) == pytest.approx(least, abs=1), said
    assert max(found) == pytest.approx(most, abs=1), said
    assert max(missing) == pytest.approx(without, abs=1.5), said
    if tasks >= APPROXIMATE_BELOW:
        assert 77 <= least <= most <= 83, "what is printed without a mark"
    if tasks >= SHOWN_FROM:
        assert 75 <= least <= most <= 88, "what is printed at all"


@pytest.mark.parametrize("tasks", [10, 16, 30, 100])
@pytest.mark.parametrize("attempts", [1, 3])
@pytest.mark.parametrize("alike", [0.3, 0.7])
def test_a_solvers_own_figure_is_as_good_for_another_one_of_the_same_spread(
    tasks: int, attempts: int, alike: float
) -> None:
    """Rates as far above a half as below have one spread; the two solvers have nothing in common."""

    def apart_by(difference: float, count: int) -> Judged:
        drawn = np.random.default_rng(3)
        scale = (1 - alike) / alike
        first, second = (
            drawn.binomial(attempts, drawn.beta(rate * scale, (1 - rate) * scale, (count, tasks))) / attempts
            for rate in (0.5 + difference / 2, 0.5 - difference / 2)
        )
        return judged(first - second, 2 * first.var(1, ddof=1) / tasks)

    low, high = 0.0, 0.98
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (low, middle) if apart_by(middle, 3000).printed <= middle else (middle, high)
    assert 0.75 <= apart_by(high, 10_000).better.mean() <= 0.81


# -------------------------------------------------------------------------------------------------------- equal solvers


def told_apart(tasks: int, attempts: int, chances: Iterable[np.ndarray]) -> float:
    """The highest chance of a verdict other than not separated, over all outcomes of all tasks.

    Each of *chances* is of a task's difference, from -1 to 1 in steps of 1/attempts.
    """
    ways = np.array(list(ways_of(tasks, 2 * attempts + 1)))
    steps = np.repeat(np.tile(np.arange(-attempts, attempts + 1), len(ways)), ways.ravel()).reshape(len(ways), tasks)
    found = judged(steps / attempts)
    counts = ways[found.better | found.worse]
    orders = special.gammaln(tasks + 1) - special.gammaln(counts + 1).sum(1)
    return max(float(np.exp(orders + special.xlogy(counts, one).sum(1)).sum()) for one in chances)


def differences(attempts: int, rate: float, alike: float) -> np.ndarray:
    """The chances of each difference at a task between two solvers that are equal at it."""
    scale = (1 - alike) / alike if alike else 0
    middles = (np.arange(400) + 0.5) / 400
    rates = stats.beta.ppf(middles, rate * scale, (1 - rate) * scale) if alike else np.array([rate])
    solved = stats.binom.pmf(np.arange(attempts + 1), attempts, rates[:, None])
    return np.mean([np.convolve(one, one[::-1]) for one in solved], axis=0)


def test_two_tasks_would_tell_equal_solvers_apart_too_often() -> None:
    """By t both tasks would have to be won, or lost, since a spread of 0 makes it infinite: 2 (0.25)^2 at half ties."""
    assert max(2 * ((1 - ties / 100) / 2) ** 2 for ties in range(50, 101)) == 0.125
    assert told_apart(3, 1, [np.array([0.25, 0.5, 0.25])]) == 0


def test_with_one_attempt_equal_solvers_are_told_apart_in_at_most_56_of_1000() -> None:
    ties = [np.array([(1 - n / 100) / 2, n / 100, (1 - n / 100) / 2]) for n in range(50, 101)]
    most = {tasks: told_apart(tasks, 1, ties) for tasks in [*range(3, 31), 60, 100]}
    assert 0.055 <= max(most.values()) == most[8] <= 0.056


def test_with_several_attempts_they_are_in_at_most_65_of_1000() -> None:
    kinds = {
        attempts: [differences(attempts, rate / 100, alike) for rate in range(5, 51, 5) for alike in (0, 0.1, 0.3, 0.7)]
        for attempts in (2, 3)
    }
    most = {(tasks, n): told_apart(tasks, n, chances) for n, chances in kinds.items() for tasks in range(3, 11)}
    assert 0.064 <= max(most.values()) == most[8, 2] <= 0.065


@pytest.mark.parametrize("tasks", [16, 30, 100])
@pytest.mark.parametrize("setting", SETTINGS)
def test_in_larger_suites_they_are_told_apart_in_about_5_of_100(tasks: int, setting: tuple[int, float, float]) -> None:
    found = Drawn(6, tasks, setting, 10_000).judged(0)
    assert (found.better | found.worse).mean() <= 0.058
