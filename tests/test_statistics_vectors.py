"""Published and hand-checked figures, and SciPy as the other opinion."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scoring.statistics.bootstrap import percentiles, two_level, words
from scoring.statistics.chances import pass_all, pass_at, shown_ks
from scoring.statistics.interval import (
    Method,
    clustered_t,
    counted,
    effective_tries,
    rate_interval,
    sample,
    standard_error,
    wilson,
)
from scoring.statistics.paired import Verdict, holm, mcnemar, paired
from scoring.statistics.ratio import per_resolved
from scoring.statistics.student import Z95, normal_two_sided, quantile, root, two_sided

LEVEL = Fraction(95, 100)


def bits(text: str) -> list[Fraction]:
    return [Fraction(int(one)) for one in text]


def singles(text: str) -> dict[str, list[Fraction]]:
    return {f"t{n}": [value] for n, value in enumerate(bits(text))}


# ---------------------------------------------------------------------------------------------------- pass@k and pass^k


@pytest.mark.parametrize(
    ("attempts", "solved", "k", "one", "every"),
    [
        (5, 2, 1, "2/5", "2/5"),
        (5, 2, 3, "9/10", "0"),
        (10, 3, 5, "11/12", "0"),
        (10, 6, 5, "1", "1/42"),
        (200, 1, 100, "1/2", "0"),
    ],
)
def test_pass_at_k_and_pass_hat_k_are_exact(attempts: int, solved: int, k: int, one: str, every: str) -> None:
    assert pass_at(k, attempts, solved) == Fraction(one)
    assert pass_all(k, attempts, solved) == Fraction(every)


def test_the_biased_estimate_is_not_produced() -> None:
    assert float(pass_at(10, 100, 37) or 0) == pytest.approx(0.992616797214249, abs=1e-15)
    assert pass_at(2, 4, 1) == Fraction(1, 2)
    assert round(float(pass_at(5, 10, 3) or 0), 5) != 0.83193


def test_below_k_attempts_there_is_no_figure() -> None:
    assert pass_at(6, 5, 5) is None and pass_all(6, 5, 0) is None
    for wrong in ((0, 5, 1), (1, 5, 6), (1, 5, -1)):
        with pytest.raises(ValueError, match="there is no pass"):
            pass_at(*wrong)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_they_are_shares_of_all_subsets(case: tuple[int, int, int]) -> None:
    attempts, solved, k = case
    chosen = list(combinations([True] * solved + [False] * (attempts - solved), k))
    assert pass_at(k, attempts, solved) == Fraction(sum(map(any, chosen)), len(chosen))
    assert pass_all(k, attempts, solved) == Fraction(sum(map(all, chosen)), len(chosen))


def test_which_k_are_shown() -> None:
    assert shown_ks(1) == ()
    assert shown_ks(3) == (2, 3)
    assert shown_ks(7) == (2, 3, 4, 5, 7)
    assert shown_ks(60) == (2, 3, 4, 5, 10, 20, 50, 60)


# -------------------------------------------------------------------------------------------------------- distributions


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 29, 30, 99, 262, 1001])
def test_student_agrees_with_scipy(freedom: int) -> None:
    assert float(quantile(LEVEL, freedom)) == pytest.approx(stats.t.ppf(0.975, freedom), rel=2e-14)
    assert float(quantile(Fraction(3, 5), freedom)) == pytest.approx(stats.t.ppf(0.8, freedom), rel=2e-14)
    for t in (Fraction(1, 100), Fraction(13, 7), Fraction(40)):
        assert float(two_sided(t, freedom)) == pytest.approx(2 * stats.t.sf(float(t), freedom), abs=5e-15)
    assert two_sided(Fraction(-2), freedom) == two_sided(Fraction(2), freedom)


def test_published_quantiles() -> None:
    assert float(quantile(LEVEL, 9)) == pytest.approx(2.262157163, abs=5e-10)
    assert float(Z95) == stats.norm.ppf(0.975) == 1.959963984540054


@pytest.mark.parametrize("squared", ["0", "0.01", "1", "3.84", "20", "69.9", "71"])
def test_the_normal_tail_agrees_with_scipy(squared: str) -> None:
    assert float(normal_two_sided(Fraction(squared))) == pytest.approx(stats.chi2.sf(float(squared), 1), abs=3e-15)


def test_quantiles_are_refused_where_there_are_none() -> None:
    with pytest.raises(ValueError, match="level"):
        quantile(Fraction(1), 3)
    with pytest.raises(ValueError, match="degree of freedom"):
        two_sided(Fraction(1), 0)
    assert root(Fraction(9, 4)) == Fraction(3, 2)


# ------------------------------------------------------------------------------------------------------------ intervals


@pytest.mark.parametrize(
    ("solved", "tries", "low", "high"),
    [
        (0, 10, 0, 0.277532800),
        (10, 10, 0.722467200, 1),
        (5, 10, 0.236593091, 0.763406909),
        (7, 10, 0.396778147, 0.892208733),
        (1, 1, 0.206549314, 1),
        (0, 1, 0, 0.793450686),
        (45, 100, 0.356145380, 0.547553970),
        (81, 263, 0.255288520, 0.366209577),
        (250, 500, 0.456341265, 0.543658735),
        (3, 50, 0.020614970, 0.162170917),
    ],
)
def test_wilson(solved: int, tries: int, low: float, high: float) -> None:
    bounds = wilson(Fraction(solved, tries), Fraction(tries))
    assert [float(one) for one in bounds] == pytest.approx([low, high], abs=1e-9)
    shown = rate_interval(sample([[Fraction(n < solved)] for n in range(tries)]))
    assert shown == (Method.WILSON, bounds)


def test_what_wilsons_is_not() -> None:
    """The upper ends for 0 of 10 of two other intervals: Clopper and Pearson's covers more than what it says, and
    Jeffreys' takes a prior for known."""
    clopper_pearson = stats.binomtest(0, 10).proportion_ci(0.95, "exact").high
    jeffreys = stats.beta.ppf(0.975, 0.5, 10.5)
    assert [clopper_pearson, jeffreys] == pytest.approx([0.308497, 0.217196], abs=5e-7)
    assert jeffreys < float(wilson(Fraction(0), Fraction(10))[1]) < clopper_pearson


CLUSTERS = [bits("1110"), bits("0000"), bits("1101"), bits("1000")]


def test_a_standard_error_has_tasks_as_clusters() -> None:
    assert sample(CLUSTERS).mean == Fraction("0.4375")
    assert standard_error(sample(CLUSTERS)) == Fraction("0.1875")
    assert standard_error(sample([bits("11"), bits("00")])) == Fraction("0.5")
    assert standard_error(sample([bits("110")])) is None
    assert clustered_t(sample(CLUSTERS)) == (0, 1), "0.4375 give or take 0.5967, within 0..1"
    assert clustered_t(sample([bits("110")])) is None
    found = clustered_t(sample([*CLUSTERS, *CLUSTERS, *CLUSTERS]))
    error = 0.1875 * math.sqrt(3 / 11)
    assert [float(one) for one in found or ()] == pytest.approx(
        [0.4375 - (t := 2.200985160 * error), 0.4375 + t], abs=1e-8
    )


def test_what_a_standard_error_is_not() -> None:
    """Without the finite-cluster factor √(C/(C - 1)) it would be 0.1624, too small with few tasks; with attempts taken
    for independent ones 0.1281."""
    alone = [one for values in CLUSTERS for one in values]
    sums = [sum(values) - Fraction("0.4375") * len(values) for values in CLUSTERS]
    assert math.sqrt(sum(one**2 for one in sums)) / 16 == pytest.approx(0.162379763, abs=5e-10)
    assert float(standard_error(sample(CLUSTERS)) or 0) == pytest.approx(0.162379763 * math.sqrt(4 / 3), abs=1e-9)
    assert float(standard_error(sample([[one] for one in alone])) or 0) == pytest.approx(0.128086885, abs=5e-10)


def test_attempts_at_a_task_are_worth_less_than_tasks() -> None:
    same, mixed = sample([bits("111"), bits("000")] * 15), sample([bits("100"), bits("110")] * 15)
    assert effective_tries(same) == 30
    assert effective_tries(mixed) == 90
    assert effective_tries(sample([])) is None
    wide, narrow = rate_interval(same), rate_interval(mixed)
    assert wide is not None and narrow is not None
    assert wide[0] is narrow[0] is Method.EFFECTIVE_WILSON
    assert wide[1][0] < narrow[1][0] < narrow[1][1] < wide[1][1]


def test_one_task_with_several_attempts_says_nothing_of_others() -> None:
    assert rate_interval(sample([bits("110")])) is None
    assert rate_interval(sample([])) is None


GROUPS = st.lists(st.lists(st.integers(0, 1).map(Fraction), min_size=1, max_size=4), min_size=2, max_size=12)


@given(GROUPS)
def test_an_interval_holds_its_rate_and_lies_within_0_and_1(grouped: list[list[Fraction]]) -> None:
    of = sample(grouped)
    found, tries = rate_interval(of), effective_tries(of)
    assert found is not None and tries is not None
    low, high = found[1]
    assert 0 <= low <= of.mean <= high <= 1
    assert len(grouped) <= tries <= of.attempts == sum(map(len, grouped))
    assert counted((int(sum(values)), len(values)) for values in grouped) == of


# ------------------------------------------------------------------------------------------------------------ bootstrap


def test_the_generator_is_the_one_that_is_written_down() -> None:
    """SHAKE-128 of a text, in little-endian words: whoever has the page can draw the same."""
    assert words("rate", 0, 0, 3) == WORDS
    assert words("rate", 0, 0, 5)[:3] == WORDS
    assert words("rate", 1, 0, 3) != WORDS != words("cost", 0, 0, 3)


WORDS = (12705763803729295560, 5371979412217947398, 17124606994073381160)


def test_the_bootstrap_gives_these_bytes_for_ever() -> None:
    means = two_level([(3, 4), (0, 4), (3, 4), (1, 4)])
    assert len(means) == 1000 and means == sorted(means)
    low, high = percentiles(means, LEVEL)
    assert (str(low), str(high)) == BYTES
    assert two_level([(3, 4), (0, 4), (3, 4), (1, 4)], seed=1) != means


BYTES = ("1/8", "13/16")


def test_the_bootstrap_has_the_spread_of_two_levels() -> None:
    """Of tasks and of attempts: its variance is that of both draws, within what 4,000 resamples can tell."""
    tasks = [(1, 3), (2, 3), (3, 3), (0, 3), (2, 3), (1, 3), (3, 3), (2, 3)]
    means = [float(one) for one in two_level(tasks, resamples=4000)]
    rates = [c / n for c, n in tasks]
    centre = sum(rates) / 8
    variance = (sum((r - centre) ** 2 for r in rates) / 8 + sum(r * (1 - r) / 3 for r in rates) / 8) / 8
    assert sum(means) / 4000 == pytest.approx(centre, abs=0.01)
    assert math.sqrt(sum((m - centre) ** 2 for m in means) / 4000) == pytest.approx(math.sqrt(variance), rel=0.05)


def test_all_or_nothing_leaves_nothing_to_resample() -> None:
    assert set(two_level([(2, 2), (5, 5)])) == {Fraction(1)}
    assert set(two_level([(0, 2)])) == {Fraction(0)}
    assert two_level([]) == []


# ---------------------------------------------------------------------------------------------------------------- pairs


def test_paired_attempts() -> None:
    found = paired(singles("1101011011"), singles("1001001010"))
    assert (found.difference, found.p_value) == ("0.300000", "0.250000")
    assert (found.won, found.lost, found.tied, found.tasks, found.cells) == (3, 0, 7, 10, 20)
    half = 0.152752523 * 2.262157163
    assert [float(found.low), float(found.high)] == pytest.approx([0.3 - half, 0.3 + half], abs=1e-6)
    assert float(found.p_paired) == pytest.approx(2 * stats.t.sf(0.3 / 0.152752523, 9), abs=1e-6)
    assert found.verdict is Verdict.NOT_SEPARATED


def test_what_a_paired_difference_is_not() -> None:
    """Of two samples with nothing in common it would have a standard error of 0.2236."""
    errors = [standard_error(sample([[one] for one in bits(text)])) for text in ("1101011011", "1001001010")]
    assert math.hypot(*(float(one or 0) for one in errors)) == pytest.approx(0.223606798, abs=5e-10)
    found = paired(singles("1101011011"), singles("1001001010"))
    half = (Fraction(found.high) - Fraction(found.low)) / 2
    assert float(half) / stats.t.ppf(0.975, 9) == pytest.approx(0.152752523, abs=1e-6)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(won: int, lost: int) -> None:
    expected = stats.binomtest(won, won + lost, 0.5).pvalue if won + lost else 1.0
    assert float(mcnemar(won, lost)) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_the_verdict_is_the_intervals_and_turns_round_with_the_pair(pairs: list[tuple[int, int]]) -> None:
    first, second = (singles("".join(str(pair[n]) for pair in pairs)) for n in (0, 1))
    there, back = paired(first, second), paired(second, first)
    opposite = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    assert back.verdict is opposite.get(there.verdict, Verdict.NOT_SEPARATED)
    assert Fraction(there.low) == -Fraction(back.high)
    assert Fraction(there.low) <= Fraction(there.difference) <= Fraction(there.high)
    separated = there.verdict is not Verdict.NOT_SEPARATED
    assert separated == (Fraction(there.low) > 0 or Fraction(there.high) < 0)
    assert separated == (Fraction(there.p_paired) < Fraction("0.05"))


def test_tasks_without_spread_have_an_interval_all_the_same() -> None:
    """Equal on each of four tasks is not 'equal, exactly'; and all of four against none is a difference."""
    equal, all_of = paired(singles("1010"), singles("1010")), paired(singles("1111"), singles("0000"))
    assert (equal.low, equal.high, equal.verdict) == ("-0.489891", "0.489891", Verdict.NOT_SEPARATED)
    assert (all_of.low, all_of.verdict, all_of.minimum_detectable) == ("0.020218", Verdict.BETTER, None)
    assert paired(singles("111"), singles("000")).verdict is Verdict.NOT_SEPARATED
    assert paired(singles("11"), singles("00")).high == "1.000000"


def test_only_tasks_scored_on_both_sides_count() -> None:
    found = paired({"a": bits("11"), "b": bits("01"), "c": []}, {"b": bits("1"), "c": bits("1"), "a": bits("00")})
    assert (found.tasks, found.cells) == (2, 7)
    with pytest.raises(ValueError, match="no task"):
        paired({"a": bits("1")}, {"b": bits("1")})


def test_holm() -> None:
    given = [Fraction(1, 100), Fraction(4, 100), Fraction(3, 100), Fraction(5, 1000)]
    assert holm(given) == (Fraction(3, 100), Fraction(6, 100), Fraction(6, 100), Fraction(2, 100))
    assert holm([]) == () and holm([Fraction(3, 4), Fraction(1)]) == (Fraction(1), Fraction(1))


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=8))
def test_holm_only_raises_and_keeps_the_order(p_values: list[Fraction]) -> None:
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    ranked = [q for _, q in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)


# ---------------------------------------------------------------------------------------------------------------- ratio


def test_joules_per_resolved_with_its_standard_error() -> None:
    joules = [100, 200, 150, 300, 250, 120, 180, 220, 90, 140]
    found = per_resolved(list(zip(map(Fraction, joules), bits("1011010110"), strict=True)))
    assert found is not None
    assert float(found[0]) == pytest.approx(291.666667, abs=1e-6)
    assert float(found[1] or 0) == pytest.approx(94.059674, abs=1e-6)
    assert per_resolved([(Fraction(3), Fraction(0))]) is None
