"""Sharing energy out among attempts, and summing it up per solver."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.energy.account import account
from harness.energy.attribution import PROVENANCE, Share, Tick, attribute
from harness.energy.records import EnergyFlag, EnergyRecord, Provenance
from harness.energy.totals import total_energy
from tests.energy_rig import WATT, idle_baseline, package, window

SECOND = 1_000_000
JOULE = 1_000_000


def test_by_cpu_time() -> None:
    tick = Tick(100 * SECOND, 12_000 * JOULE, 100 * SECOND, {"a": 60 * SECOND, "b": 20 * SECOND})
    result = attribute([tick], 50 * WATT)
    assert result.attempts["a"].active_uj == 4200 * JOULE
    assert result.attempts["b"].active_uj == 1400 * JOULE
    assert result.other.active_uj == 1400 * JOULE
    assert result.total_uj == 12_000 * JOULE
    assert result.flags == (EnergyFlag.SHARED, EnergyFlag.NOISY_HOST)
    assert PROVENANCE is Provenance.MODELLED


def test_piece_by_piece() -> None:
    ticks = [
        Tick(10 * SECOND, 600 * JOULE, 5 * SECOND, {"a": 5 * SECOND}),
        Tick(10 * SECOND, 900 * JOULE, 10 * SECOND, {"a": 5 * SECOND, "b": 5 * SECOND}),
        Tick(10 * SECOND, 600 * JOULE, 5 * SECOND, {"b": 5 * SECOND}),
    ]
    result = attribute(ticks, 50 * WATT)
    assert result.attempts == {"a": Share(300 * JOULE, 750 * JOULE), "b": Share(300 * JOULE, 750 * JOULE)}
    assert result.other == Share(0, 0)
    assert result.total_uj == 2100 * JOULE
    assert result.flags == (EnergyFlag.SHARED,)


def test_the_node_exporters_worked_example() -> None:
    # 60 W, a third of it active, and a container with 150 of 1000 ms: 3 W
    result = attribute([Tick(SECOND, 60 * JOULE, SECOND, {"a": 150_000})], 40 * WATT)
    assert result.attempts["a"].active_uj == 3 * JOULE
    assert result.attempts["a"].idle_uj == 40 * JOULE


def test_nobody_present_belongs_to_nobody() -> None:
    result = attribute([Tick(SECOND, 60 * JOULE, SECOND, {})], 40 * WATT)
    assert (result.attempts, result.other) == ({}, Share(20 * JOULE, 40 * JOULE))


def test_no_cpu_time_means_no_active_energy() -> None:
    result = attribute([Tick(SECOND, 60 * JOULE, 0, {"a": 0})], 40 * WATT)
    assert result.attempts["a"] == Share(0, 40 * JOULE)
    assert result.other == Share(20 * JOULE, 0)


def test_one_attempt_alone_is_not_shared() -> None:
    result = attribute([Tick(SECOND, 60 * JOULE, SECOND, {"a": SECOND})], 40 * WATT)
    assert result.flags == ()


micro = st.integers(0, 10**12)
tick = st.builds(
    Tick,
    dt_us=st.integers(1, 10**9),
    energy_uj=micro,
    host_cpu_us=micro,
    cpu_us=st.dictionaries(st.sampled_from("abcd"), micro, max_size=4),
)


@given(st.lists(tick, max_size=20), st.integers(0, 10**9))
def test_the_parts_always_sum_to_the_whole(ticks: list[Tick], idle_uw: int) -> None:
    result = attribute(ticks, idle_uw)
    assert result.total_uj == sum(each.energy_uj for each in ticks)
    for name in result.attempts:
        assert any(name in each.cpu_us for each in ticks)


@given(st.lists(tick, min_size=1, max_size=20))
def test_with_positive_active_energy_nobody_gets_less_than_nothing_or_more_than_all(ticks: list[Tick]) -> None:
    result = attribute(ticks, 0)
    whole = sum(each.energy_uj for each in ticks)
    assert all(0 <= share.active_uj <= whole for share in (*result.attempts.values(), result.other))


# -------------------------------------------------------------------------------------------------------------- totals


def record(joules: int | None, *, seconds: int = 100, scripted: bool = False, zone: str = "package-0") -> EnergyRecord:
    """An attempt's record over *seconds* on a host that idles at 0 W."""
    end = 5 if joules is None else 1000 * JOULE + joules * JOULE
    points = [(0, 1000 * JOULE), (seconds, end)]
    return account(window(points, zone=package(name=zone), idle=idle_baseline(0), scripted=scripted)[0])


def test_joules_per_resolved_counts_every_attempt() -> None:
    energies = (100, 200, 150, 300, 250, 120, 180, 220, 90, 140)
    result = total_energy([record(each) for each in energies], resolved=6)
    assert result.total_uj == 1750 * JOULE
    assert result.per_resolved_uj == 291_666_667
    assert (result.covered, result.attempts) == (10, 10)
    assert result.median_wall_us == 100 * SECOND
    assert result.frontier
    assert result.reason is None


def test_nothing_resolved_has_no_ratio_but_a_bound() -> None:
    result = total_energy([record(100), record(200)], resolved=0)
    assert result.per_resolved_uj is None
    assert result.per_resolved_at_least_uj == 300 * JOULE


def test_one_missing_part_makes_the_total_missing() -> None:
    for missing in (None, record(None)):
        result = total_energy([record(100), missing], resolved=1)
        assert result.total_uj is None
        assert result.per_resolved_uj is None
        assert result.at_least_uj == 100 * JOULE
        assert (result.covered, result.attempts) == (1, 2)
        assert result.provenance is Provenance.UNAVAILABLE
        assert not result.frontier
        assert result.reason == "some attempts have no energy figure"
    assert total_energy([record(100), None], resolved=1).median_wall_us is None


def test_marked_figures_stay_off_the_frontier() -> None:
    result = total_energy([record(100), record(100, scripted=True)], resolved=1)
    assert result.total_uj == 200 * JOULE
    assert not result.frontier
    assert result.reason == "unreliable: scripted"


def test_two_classes_are_never_one_point() -> None:
    other = record(100).model_copy(update={"host_fingerprint": "sha256:" + "00" * 32})
    result = total_energy([record(100), other], resolved=1)
    assert not result.frontier
    assert result.reason == "attempts differ in provenance, zone set, host or scope"


def test_no_attempts() -> None:
    result = total_energy([], resolved=0)
    assert (result.total_uj, result.median_wall_us, result.reason) == (None, None, "no attempts")
    assert not result.frontier


def test_the_median_of_an_even_number() -> None:
    result = total_energy([record(100, seconds=10), record(100, seconds=20)], resolved=1)
    assert result.median_wall_us == 15 * SECOND
