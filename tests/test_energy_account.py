"""From a window to the record: gross, idle, active, uncertainty, flags, and what makes a figure `~`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.energy.account import account, drifted, settle, verify
from harness.energy.floor import floor_flags, shortest_window_us, uncertainty_uj
from harness.energy.records import (
    EnergyFlag,
    EnergyRecord,
    Provenance,
    ZoneEnergy,
    ZoneKind,
    in_order,
    weakest,
    zone_set,
)
from harness.errors import VerifyError
from harness.records import from_json, to_json
from tests.energy_rig import RANGE_UJ, WATT, idle_baseline, package, window


def test_active_is_gross_less_idle() -> None:
    record = account(window([(0, 0), (100, 12_000 * WATT)])[0])
    assert (record.gross_uj, record.idle_uj, record.active_uj) == (12_000 * WATT, 5000 * WATT, 7000 * WATT)
    assert record.reliable
    assert record.mark == ""
    assert record.missing == {}


def test_active_keeps_its_minus_sign() -> None:
    record = account(window([(0, 0), (100, 4000 * WATT)])[0])
    assert record.active_uj == -1000 * WATT
    assert EnergyFlag.BELOW_FLOOR in record.flags
    assert record.mark == "~"


def test_no_idle_power_means_no_active_figure() -> None:
    record = account(window([(0, 0), (100, 4000 * WATT)], idle=idle_baseline(None))[0])
    assert record.gross_uj == 4000 * WATT
    assert record.active_uj is None
    assert record.missing["active_uj"] == "not calibrated"
    assert EnergyFlag.NO_IDLE in record.flags
    assert not record.reliable


def test_idle_power_of_another_zone_set_is_not_used() -> None:
    idle = idle_baseline().model_copy(update={"zone_set": "cpu-package+dram"})
    record = account(window([(0, 0), (100, 4000 * WATT)], idle=idle)[0])
    assert record.idle_uj is None
    assert record.missing["idle_uj"] == "idle power was calibrated over cpu-package+dram"


def test_a_gap_makes_every_figure_missing_but_keeps_the_bound() -> None:
    record = account(window([(0, 0), (50, 3000 * WATT), (100, 5)])[0])
    assert record.gross_uj is None
    assert record.active_uj is None
    assert record.uncertainty_uj is None
    assert record.at_least_uj == 3000 * WATT
    assert EnergyFlag.COUNTER_RESET in record.flags


def test_a_shared_window_has_no_active_figure_of_its_own() -> None:
    record = account(window([(0, 0), (100, 12_000 * WATT)], shared=True)[0])
    assert record.gross_uj == 12_000 * WATT
    assert record.active_uj is None
    assert record.marked_by == (EnergyFlag.SHARED,)


def test_scripted_solvers_are_always_marked() -> None:
    record = account(window([(0, 0), (100, 12_000 * WATT)], scripted=True)[0])
    assert record.active_uj == 7000 * WATT
    assert record.marked_by == (EnergyFlag.SCRIPTED,)
    assert record.mark == "~"


def test_a_quick_calibration_is_never_publishable() -> None:
    record = account(window([(0, 0), (100, 12_000 * WATT)], idle=idle_baseline(quick=True))[0])
    assert record.marked_by == (EnergyFlag.QUICK_IDLE,)


def _energy(tau_us: int, watts: int, seconds_ms: int, unit_uj: int = 1) -> tuple[int, int]:
    """Uncertainty and energy at a constant power with an exactly known idle power of zero."""
    zone = package(update_us=tau_us, unit_uj=unit_uj)
    wall_us = seconds_ms * 1000
    booked = watts * wall_us
    energy = ZoneEnergy(zone=zone, counted=True, energy_uj=booked, at_least_uj=booked)
    return uncertainty_uj([energy], wall_us, 0, 8), booked


def test_one_percent_takes_20_s_at_100_ms_and_a_fifth_of_a_second_at_1_ms() -> None:
    for tau_us, enough_ms in ((100_000, 20_000), (1000, 200)):
        u, energy = _energy(tau_us, 100, enough_ms)
        assert (u - 1) * 100 == energy
        u, energy = _energy(tau_us, 100, enough_ms + enough_ms // 20)
        assert floor_flags(energy, u, enough_ms * 1050, [package(update_us=tau_us)]) == set()


def test_uncertainty_adds_the_spread_of_idle_in_squares() -> None:
    zone = package(update_us=1000, unit_uj=61)
    energy = ZoneEnergy(zone=zone, counted=True, energy_uj=10_000 * WATT, at_least_uj=10_000 * WATT)
    # eps = 2 x 1 ms x 100 W + 61 uJ; spread = 0.22239 W x 100 s / sqrt 8
    eps = 200_061
    spread = 222_390 * 100 / 8**0.5
    assert abs(uncertainty_uj([energy], 100 * WATT, 222_390, 8) - (eps**2 + spread**2) ** 0.5) <= 1


def test_zones_that_are_not_counted_add_nothing() -> None:
    psys = ZoneEnergy(zone=package(kind=ZoneKind.PSYS), counted=False, energy_uj=10**9, at_least_uj=10**9)
    assert uncertainty_uj([psys], WATT, 0, 8) == 0


@pytest.mark.parametrize(
    ("active", "u", "wall_us", "flags"),
    [
        (1000, 10, 10**6, set()),
        (999, 10, 10**6, {EnergyFlag.COARSE}),
        (30, 10, 10**6, {EnergyFlag.COARSE}),
        (29, 10, 10**6, {EnergyFlag.BELOW_FLOOR}),
        (-1000, 10, 10**6, {EnergyFlag.BELOW_FLOOR}),
        (1000, 10, 19_999, {EnergyFlag.SHORT_WINDOW}),
        (1000, 10, 20_000, set()),
    ],
)
def test_floor(active: int, u: int, wall_us: int, flags: set[EnergyFlag]) -> None:
    assert floor_flags(active, u, wall_us, [package()]) == flags


def test_the_averaging_window_counts_too() -> None:
    assert shortest_window_us([package()]) == 20_000
    assert shortest_window_us([package(window_us=10**6), package()]) == 10**6
    assert shortest_window_us([package(kind=ZoneKind.PSYS, window_us=10**6)]) == 0


def test_settling_interpolates_the_idle_power() -> None:
    made, data = window([(0, 0), (100, 12_000 * WATT)], started_us=50 * WATT, idle=idle_baseline(50))
    settled = settle(account(made), data, idle_baseline(52, at_us=200 * WATT))
    assert settled.idle.power_uw == 51 * WATT
    assert settled.active_uj == 6900 * WATT
    assert EnergyFlag.IDLE_DRIFT not in settled.flags
    verify(settled, data)


def test_a_drifting_idle_power_is_flagged() -> None:
    made, data = window([(0, 0), (100, 12_000 * WATT)], idle=idle_baseline(100))
    settled = settle(account(made), data, idle_baseline(106, at_us=200 * WATT))
    assert EnergyFlag.IDLE_DRIFT in settled.marked_by
    assert not drifted(idle_baseline(100), idle_baseline(105))
    assert not drifted(idle_baseline(100), idle_baseline(95))
    assert drifted(idle_baseline(100), idle_baseline(94))
    assert not drifted(idle_baseline(100), idle_baseline(None))


def test_settling_without_a_second_calibration_changes_nothing() -> None:
    made, data = window([(0, 0), (100, 12_000 * WATT)])
    record = account(made)
    assert settle(record, data, idle_baseline(None)) == record


def test_a_quick_second_calibration_makes_the_figure_quick() -> None:
    made, data = window([(0, 0), (100, 12_000 * WATT)])
    settled = settle(account(made), data, idle_baseline(50, quick=True, at_us=200 * WATT))
    assert EnergyFlag.QUICK_IDLE in settled.marked_by


def test_the_record_survives_storage() -> None:
    made, data = window([(0, 262_143_000_000), (100, 12_000 * WATT)])
    record = account(made)
    again = from_json(EnergyRecord, to_json(record))
    assert again == record
    verify(again, data)


@given(st.data())
def test_one_changed_byte_of_the_readings_is_found(draw: st.DataObject) -> None:
    made, data = window([(0, 0), (1, 100), (2, 300), (3, 350)])
    record = account(made)
    at = draw.draw(st.integers(0, len(data) - 1))
    flip = draw.draw(st.integers(1, 255))
    changed = data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
    with pytest.raises(VerifyError):
        verify(record, changed)


def test_a_forged_figure_or_a_dropped_reading_is_found() -> None:
    made, data = window([(0, 0), (50, 6000 * WATT), (100, 12_000 * WATT)])
    record = account(made)
    with pytest.raises(VerifyError, match="does not follow from its readings"):
        verify(record.model_copy(update={"active_uj": 1}), data)
    with pytest.raises(VerifyError, match="does not follow from its readings"):
        verify(record.model_copy(update={"flags": (EnergyFlag.COARSE,)}), data)
    with pytest.raises(VerifyError):
        verify(record, b"".join(data.splitlines(keepends=True)[:2]))


def test_a_record_can_not_contradict_itself() -> None:
    record = account(window([(0, 0), (100, 12_000 * WATT)])[0])
    value = record.model_dump(mode="json")
    for change in ({"active_uj": None}, {"missing": {"gross_uj": "why"}}, {"reliable": False}):
        with pytest.raises(ValidationError):
            EnergyRecord.model_validate(value | change)


def test_weakest_provenance_and_zone_sets() -> None:
    assert weakest([Provenance.COUNTER, Provenance.INTEGRATED]) is Provenance.INTEGRATED
    assert weakest([Provenance.MODELLED, Provenance.UNAVAILABLE]) is Provenance.UNAVAILABLE
    assert weakest([]) is Provenance.UNAVAILABLE
    assert zone_set([ZoneKind.DRAM, ZoneKind.PACKAGE, ZoneKind.PSYS]) == "cpu-package+dram"
    assert zone_set([ZoneKind.CORE]) == "none"
    assert in_order({EnergyFlag.COARSE, EnergyFlag.READ_GAP}) == (EnergyFlag.READ_GAP, EnergyFlag.COARSE)


def test_raw_values_beyond_what_json_numbers_hold_are_kept() -> None:
    gpu = package(kind=ZoneKind.GPU, range_uj=None)
    start = 2**60
    made, data = window([(0, start), (100, start + 9000 * WATT)], zone=gpu)
    record = account(made)
    assert record.gross_uj == 9000 * WATT
    assert start > RANGE_UJ
    assert str(start).encode() in data
