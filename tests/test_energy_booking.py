"""The rules by which a counter's raw values become energy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.energy.booking import book, book_zone, ceiling_uj, sample_period_us
from harness.energy.meter import Gap
from harness.energy.readings import ReadingLog
from harness.energy.records import EnergyFlag, Provenance, ZoneKind
from tests.energy_rig import RANGE_UJ, package

SECOND = 1_000_000
UNITS_NJ = {61035: 262143328850, 15258: 65532610987, 15300: 65712999613}


@pytest.mark.parametrize(
    ("prev", "cur", "dt_us", "energy"),
    [
        (262143000000, 1000000, 10 * SECOND, 1328850),
        (5000, 5000, SECOND, 0),
        (262143267876, 244140, SECOND, 305114),
        (0, 250 * SECOND, SECOND, 250 * SECOND),
    ],
)
def test_a_possible_step_is_booked(prev: int, cur: int, dt_us: int, energy: int) -> None:
    booked = book(package(), prev, cur, dt_us)
    assert (booked.energy_uj, booked.flag) == (energy, None)


def test_the_kernels_range_loses_at_most_one_unit_at_a_wrap() -> None:
    true_step = 305175
    booked = book(package(), 262143267876, 244140, SECOND).energy_uj
    assert booked is not None
    assert 0 <= true_step - booked <= 62


@pytest.mark.parametrize(("unit_nj", "span"), UNITS_NJ.items())
def test_the_range_is_the_32_bit_counters(unit_nj: int, span: int) -> None:
    assert (2**32 - 1) * unit_nj // 1000 == span


@pytest.mark.parametrize(
    ("prev", "cur", "dt_us", "flag"),
    [
        pytest.param(5000000, 3, SECOND, EnergyFlag.COUNTER_RESET, id="a reset that would be 262 kW"),
        pytest.param(0, 200_000_000_000, SECOND, EnergyFlag.IMPOSSIBLE, id="a lifetime at once, after a reset"),
        pytest.param(10, RANGE_UJ + 1, SECOND, EnergyFlag.IMPOSSIBLE, id="a value beyond the range"),
        pytest.param(10, 20, 240 * SECOND, EnergyFlag.WRAP_AMBIGUOUS, id="more than one wrap possible"),
    ],
)
def test_an_impossible_step_is_a_gap(prev: int, cur: int, dt_us: int, flag: EnergyFlag) -> None:
    booked = book(package(), prev, cur, dt_us)
    assert (booked.energy_uj, booked.flag) == (None, flag)


def test_a_wrap_with_no_known_range_is_a_gap() -> None:
    booked = book(package(range_uj=None), 4000000000, 10000, SECOND)
    assert (booked.energy_uj, booked.flag) == (None, EnergyFlag.COUNTER_RESET)


def test_sleep_is_a_gap_and_the_cost_of_reading_two_clocks_is_not() -> None:
    assert book(package(), 10, 20, SECOND, 3 * SECOND).flag is EnergyFlag.SUSPENDED
    assert book(package(), 10, 20, SECOND, 900).energy_uj == 10


def test_a_failed_reading_is_a_gap_and_never_zero() -> None:
    for prev, cur in ((None, 5), (5, None), (None, None)):
        assert book(package(), prev, cur, SECOND).energy_uj is None
        assert book(package(), prev, cur, SECOND).flag is EnergyFlag.READ_GAP


def test_a_slow_counter_may_deliver_one_update_at_once() -> None:
    gpu = package(kind=ZoneKind.GPU, range_uj=None, update_us=100_000, unit_uj=1000)
    assert book(gpu, 0, 70 * SECOND, 1000).energy_uj == 70 * SECOND
    assert book(package(), 0, 70 * SECOND, 1000).energy_uj is None


def test_time_to_a_wrap_matches_a_known_meter() -> None:
    # turbostat printed 234 s for 65,532 J at 280 W, and 1,310 s for 262,143 J at 200 W
    assert round(65532610987 / 280e6, 2) == 234.05
    assert round(262143328850 / 200e6, 1) == 1310.7
    small = package(range_uj=65532610987, peak_uw=280_000_000)
    assert book(small, 0, 1, 210 * SECOND).flag is None
    assert book(small, 0, 1, 211 * SECOND).flag is EnergyFlag.WRAP_AMBIGUOUS


def test_sampling_is_fast_enough_for_every_zone() -> None:
    assert sample_period_us([package()]) == SECOND
    assert sample_period_us([package(), package(name="b", range_uj=400 * SECOND)]) == 100_000
    assert sample_period_us([package(provenance=Provenance.INTEGRATED)]) == 100_000
    assert sample_period_us([]) == SECOND


def test_power_is_integrated_by_trapezoids() -> None:
    gpu = package(provenance=Provenance.INTEGRATED, range_uj=None)
    assert book(gpu, 100 * SECOND, 200 * SECOND, SECOND).energy_uj == 150 * SECOND
    assert book(gpu, 100 * SECOND, 200 * SECOND, SECOND + 1).flag is EnergyFlag.READ_GAP
    assert book(gpu, 100 * SECOND, 1101 * SECOND, SECOND).flag is EnergyFlag.IMPOSSIBLE
    assert book(package(provenance=Provenance.MODELLED), 5 * SECOND, 5 * SECOND, 9 * SECOND).energy_uj == 45 * SECOND
    assert book(package(provenance=Provenance.UNAVAILABLE), 1, 2, SECOND).flag is EnergyFlag.READ_GAP


def test_a_zone_after_a_gap_starts_from_its_new_value() -> None:
    log = ReadingLog()
    for t_us, value in ((0, 1000), (SECOND, Gap.IO_ERROR), (2 * SECOND, 900_000_000), (3 * SECOND, 900_000_500)):
        log.append(t_us, 0, {"package-0": value})
    energy = book_zone(package(), log.readings)
    assert energy.energy_uj is None
    assert energy.at_least_uj == 500
    assert energy.flags == (EnergyFlag.READ_GAP,)


def test_the_first_reading_books_nothing() -> None:
    log = ReadingLog()
    log.append(0, 0, {"package-0": 123456})
    assert book_zone(package(), log.readings).at_least_uj == 0
    log.append(SECOND, 0, {"package-0": 123500})
    assert book_zone(package(), log.readings).energy_uj == 44


def test_a_wrap_of_dram_leaves_the_package_alone() -> None:
    dram = package(name="package-0/dram", kind=ZoneKind.DRAM, range_uj=65712999613)
    log = ReadingLog()
    log.append(0, 0, {"package-0": 70_000_000_000, dram.name: 65712999000})
    log.append(SECOND, 0, {"package-0": 70_000_050_000, dram.name: 400})
    assert book_zone(package(), log.readings).energy_uj == 50_000
    assert book_zone(dram, log.readings).energy_uj == 1013


steps = st.lists(st.tuples(st.integers(1, 200 * SECOND), st.integers(0, 1_000_000_000)), min_size=1, max_size=60)


@given(unit_nj=st.sampled_from(sorted(UNITS_NJ)), start=st.integers(0, 2**32 - 1), curve=steps)
def test_any_power_curve_through_a_wrapping_counter_sums_to_the_truth(
    unit_nj: int, start: int, curve: list[tuple[int, int]]
) -> None:
    span = UNITS_NJ[unit_nj]
    unit_uj = span // (2**32 - 1)
    zone = package(range_uj=span, unit_uj=unit_uj)
    true_pj = start * unit_nj * 1000
    log = ReadingLog()
    t_us = 0

    def read() -> None:
        raw = (true_pj // (unit_nj * 1000)) & 0xFFFFFFFF
        log.append(t_us, 0, {zone.name: raw * unit_nj // 1000})

    read()
    longest_us = 9 * span * SECOND // (10 * zone.peak_uw)
    for length_us, power_uw in curve:
        dt_us = min(length_us, longest_us)
        true_pj += power_uw * dt_us
        t_us += dt_us
        read()
    energy = book_zone(zone, log.readings)
    assert energy.flags == ()
    assert energy.energy_uj is not None
    # uW x us are picojoules
    truth_uj = true_pj / 10**6 - start * unit_nj / 1000
    assert abs(energy.energy_uj - truth_uj) <= (unit_uj + 1) * (len(curve) + 1)


raws = st.one_of(st.none(), st.integers(0, 2 * RANGE_UJ))


@given(prev=raws, cur=raws, dt_us=st.integers(0, 10**10), span=st.sampled_from([None, RANGE_UJ, 65532610987]))
def test_a_step_is_never_negative_nor_more_than_the_part_can_draw(
    prev: int | None, cur: int | None, dt_us: int, span: int | None
) -> None:
    zone = package(range_uj=span)
    booked = book(zone, prev, cur, dt_us)
    assert (booked.energy_uj is None) == (booked.flag is not None)
    if booked.energy_uj is not None:
        assert 0 <= booked.energy_uj <= ceiling_uj(zone, dt_us)
