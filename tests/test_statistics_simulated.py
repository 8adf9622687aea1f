"""What intervals and verdicts are worth, where the truth is known. `docs/statistics.md` has these tables in full.

Coverage is not simulated but worked out: 30 tasks with three attempts each can come out in 5,456 ways up to their
order, so the chance that the interval holds the true rate is a sum over them. Pairs are simulated, from a fixed seed;
`test_statistics_power.py` has many more of them, by size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from scoring.statistics.interval import (
    LEVEL,
    Bounds,
    Sample,
    clustered_t,
    counted,
    effective_tries,
    rate_interval,
    standard_error,
    wilson,
)
from scoring.statistics.paired import Paired, Verdict, paired
from scoring.statistics.student import quantile

TASKS, ATTEMPTS = 30, 3
RATES = [round(0.05 * n, 2) for n in range(1, 20)]
ALIKE = [0, 0.3, 0.7, 1]
"""Correlation of attempts at one task."""
PAGE = (Path(__file__).parent.parent / "docs" / "statistics.md").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------- coverage


def ways(left: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """Every way in which so many tasks fall into so many kinds."""
    if kinds == 1:
        yield (left,)
        return
    for first in range(left + 1):
        for rest in ways(left - first, kinds - 1):
            yield (first, *rest)


WAYS = list(ways(TASKS, ATTEMPTS + 1))


def bounds(method: Callable[[Sample], Bounds | None]) -> np.ndarray:
    """The interval of each way; a task of kind n has n of its attempts solved."""
    found = []
    for way in WAYS:
        low, high = method(counted((n, ATTEMPTS) for n, count in enumerate(way) for _ in range(count))) or (0, 1)
        found.append((float(low), float(high)))
    return np.array(found)


@cache
def chances(rate: float, alike: float) -> np.ndarray:
    """How probable each way is where tasks' rates are beta-distributed."""
    solved = np.arange(ATTEMPTS + 1)
    if alike == 0:
        kinds = stats.binom.pmf(solved, ATTEMPTS, rate)
    elif alike == 1:
        kinds = np.array([1 - rate, *[0.0] * (ATTEMPTS - 1), rate])
    else:
        size = (1 - alike) / alike
        kinds = stats.betabinom.pmf(solved, ATTEMPTS, rate * size, (1 - rate) * size)
    counts = np.array(WAYS)
    terms = special.xlogy(counts, kinds) - special.gammaln(counts + 1)
    return np.exp(special.gammaln(TASKS + 1) + terms.sum(1))


def coverage(found: np.ndarray, rate: float, alike: float) -> float:
    low, high = found[:, 0], found[:, 1]
    return float(chances(rate, alike)[(low <= rate + 1e-12) & (high >= rate - 1e-12)].sum())


@pytest.fixture(scope="module")
def shown() -> np.ndarray:
    def method(of: Sample) -> Bounds | None:
        found = rate_interval(of)
        return None if found is None else found[1]

    return bounds(method)


@pytest.mark.parametrize("alike", ALIKE)
def test_the_interval_that_is_shown_covers_what_it_says(shown: np.ndarray, alike: float) -> None:
    for rate in RATES:
        covered = coverage(shown, rate, alike)
        assert covered >= 0.93, f"rate {rate}"
        assert covered <= 0.98 or not 0.2 <= rate <= 0.8, f"rate {rate}"


@pytest.fixture(scope="module")
def plain() -> np.ndarray:
    return bounds(clustered_t)


def test_why_it_is_not_plain_clustered_t(shown: np.ndarray, plain: np.ndarray) -> None:
    assert coverage(plain, 0.1, 0.3) < 0.91
    assert coverage(shown, 0.1, 0.3) > 0.97
    assert coverage(plain, 0.05, 0.7) < 0.82


def test_the_pages_table_of_coverage_is_true(shown: np.ndarray, plain: np.ndarray) -> None:
    rows = re.findall(r"^\| ([\d.]+) \| (effective_wilson|clustered_t) \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 2 * len(ALIKE)
    assert len(WAYS) == 5456
    for alike, method, figures in rows:
        found = {"effective_wilson": shown, "clustered_t": plain}[method]
        for rate, said in zip((0.05, 0.1, 0.2, 0.3, 0.4, 0.5), figures.split(" | "), strict=True):
            assert 100 * coverage(found, rate, float(alike)) == pytest.approx(float(said), abs=0.0501), (method, rate)


def least(found: np.ndarray) -> tuple[float, float, float]:
    """The least coverage in per cent, the rate of those up to a half, and the correlation."""
    covered, rate, alike = min(
        (coverage(found, n / 100, alike), n / 100, alike) for n in range(5, 51) for alike in ALIKE
    )
    return round(100 * covered, 1), rate, alike


def test_why_there_are_quarter_tasks_and_t_in_it(shown: np.ndarray) -> None:
    def without_quarters(of: Sample) -> Bounds:
        tasks, error = len(of.means), standard_error(of)
        tries = Fraction(tasks)
        if error:
            tries = min(max(of.mean * (1 - of.mean) / error**2, tries), Fraction(of.attempts))
        return wilson(of.mean, tries, quantile(LEVEL, tasks - 1))

    def with_z(of: Sample) -> Bounds:
        tries = effective_tries(of)
        assert tries is not None
        return wilson(of.mean, tries)

    assert least(bounds(without_quarters)) == (92.3, 0.07, 0.7)
    assert least(bounds(with_z)) == (93.0, 0.3, 1)
    assert least(shown)[0] >= 93.5


# ---------------------------------------------------------------------------------------------------------------- pairs


def pairs(
    drawn: np.random.Generator, size: tuple[int, int], rate: float, alike: float, apart: float, count: int
) -> list[Paired]:
    """Two solvers on tasks of the same difficulty, the second better by *apart* on average."""
    tasks, attempts = size
    scale = (1 - alike) / alike
    found = []
    for _ in range(count):
        rates = drawn.beta(rate * scale, (1 - rate) * scale, tasks)
        better = np.clip(rates + (1 - rates) * apart / (1 - rate), 0, 1)
        found.append(paired(*(values(drawn.binomial(attempts, one), attempts) for one in (better, rates))))
    return found


def values(solved: np.ndarray, attempts: int) -> Mapping[str, list[Fraction]]:
    return {str(n): [Fraction(1)] * won + [Fraction(0)] * (attempts - won) for n, won in enumerate(map(int, solved))}


SETTINGS = [
    ((30, 1), 0.5, 0.3),
    ((30, 3), 0.5, 0.3),
    ((30, 3), 0.1, 0.3),
    ((8, 1), 0.5, 0.01),
    ((6, 5), 0.5, 0.3),
    ((3, 3), 0.5, 0.01),
]


@pytest.mark.parametrize(("size", "rate", "alike"), SETTINGS)
def test_equal_solvers_are_told_apart_in_few_of_1000_pairs(size: tuple[int, int], rate: float, alike: float) -> None:
    found = pairs(np.random.default_rng(6), size, rate, alike, 0, 1000)
    assert sum(one.verdict is not Verdict.NOT_SEPARATED for one in found) <= 65


@pytest.mark.parametrize(
    ("size", "rate", "alike", "apart"),
    [
        ((30, 1), 0.5, 0.3, 0.316),
        ((30, 3), 0.5, 0.3, 0.193),
        ((30, 3), 0.1, 0.3, 0.148),
    ],
)
def test_solvers_that_differ_by_what_is_detectable_are_told_apart_in_80_of_100(
    size: tuple[int, int], rate: float, alike: float, apart: float
) -> None:
    """``apart`` is where the difference is the one that is printed for it, on average over the pairs."""
    found = pairs(np.random.default_rng(80), size, rate, alike, apart, 3000 if size[1] == 1 else 1500)
    printed = [float(one.minimum_detectable) for one in found if one.minimum_detectable is not None]
    assert len(printed) == len(found)
    assert sum(printed) / len(printed) == pytest.approx(apart, abs=0.004)
    better = sum(one.verdict is Verdict.BETTER for one in found)
    assert 0.77 <= better / len(found) <= 0.83
