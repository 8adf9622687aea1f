"""From raw readings to energy: the rules for wraps, resets, sleep and gaps, as pure functions.

A step between two readings is booked only when it is possible: its energy must be within what the zone can draw in that
time (plus one update period, since a slow counter delivers a whole period at once). Everything else is a gap, and the
zone starts again from its new value. The first reading books nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from harness.energy.readings import Reading
from harness.energy.records import EnergyFlag, Provenance, Zone, ZoneEnergy, in_order

SLEEP_NOTICED_US = 100_000
"""A jump of the sleeping clock that is a suspend and not the cost of reading two clocks."""

LONGEST_TRAPEZOID_US = 1_000_000
"""Measured power further apart than this says nothing of what was in between."""


@dataclass(frozen=True)
class Booked:
    """One step's energy, or the flag that says why it is unknown."""

    energy_uj: int | None
    flag: EnergyFlag | None = None


def book(zone: Zone, prev: int | None, cur: int | None, dt_us: int, slept_us: int = 0) -> Booked:
    """The energy of one zone between two readings.

    Args:
        zone: how the raw values are to be understood.
        prev: raw value before, None for a gap.
        cur: raw value after, None for a gap.
        dt_us: time between them, sleep left out.
        slept_us: how long the host slept between them.
    """
    if prev is None or cur is None:
        return Booked(None, EnergyFlag.READ_GAP)
    if slept_us > SLEEP_NOTICED_US:
        return Booked(None, EnergyFlag.SUSPENDED)
    match zone.provenance:
        case Provenance.COUNTER:
            return _book_counter(zone, prev, cur, dt_us)
        case Provenance.INTEGRATED:
            return _book_power(zone, prev, cur, dt_us)
        case Provenance.MODELLED:
            return Booked(_trapezoid_uj(prev, cur, dt_us))
        case Provenance.UNAVAILABLE:
            return Booked(None, EnergyFlag.READ_GAP)
        case _:
            assert_never(zone.provenance)


def _book_counter(zone: Zone, prev: int, cur: int, dt_us: int) -> Booked:
    span = zone.range_uj
    if span is not None and (prev > span or cur > span):
        return Booked(None, EnergyFlag.IMPOSSIBLE)
    if span is not None and dt_us * zone.peak_uw * 10 > span * 9 * 1_000_000:
        return Booked(None, EnergyFlag.WRAP_AMBIGUOUS)
    if cur < prev and span is None:
        return Booked(None, EnergyFlag.COUNTER_RESET)
    delta = cur - prev if cur >= prev else cur + (span or 0) - prev
    if delta > ceiling_uj(zone, dt_us):
        return Booked(None, EnergyFlag.COUNTER_RESET if cur < prev else EnergyFlag.IMPOSSIBLE)
    return Booked(delta)


def _book_power(zone: Zone, prev: int, cur: int, dt_us: int) -> Booked:
    if dt_us > LONGEST_TRAPEZOID_US:
        return Booked(None, EnergyFlag.READ_GAP)
    if max(prev, cur) * 10 > zone.peak_uw * 11:
        return Booked(None, EnergyFlag.IMPOSSIBLE)
    return Booked(_trapezoid_uj(prev, cur, dt_us))


def _trapezoid_uj(prev_uw: int, cur_uw: int, dt_us: int) -> int:
    return (prev_uw + cur_uw) * dt_us // 2_000_000


def ceiling_uj(zone: Zone, dt_us: int) -> int:
    """The most that a counter may rise in *dt_us*: 1.1 x peak power x (dt + one update) + one unit."""
    return zone.peak_uw * (dt_us + zone.update_us) * 11 // 10_000_000 + zone.unit_uj


def sample_period_us(zones: Sequence[Zone]) -> int:
    """How often to read: at most 1 s, a quarter of the shortest time to a wrap, 0.1 s where power is integrated."""
    period = 1_000_000
    for zone in zones:
        if zone.provenance is Provenance.INTEGRATED:
            period = min(period, 100_000)
        elif zone.provenance is Provenance.COUNTER and zone.range_uj is not None:
            period = min(period, zone.range_uj * 1_000_000 // (4 * zone.peak_uw))
    return max(period, 1000)


def book_zone(zone: Zone, readings: Sequence[Reading]) -> ZoneEnergy:
    """A zone's energy over a whole window: None if any step is unknown, beside what could be booked."""
    booked = 0
    whole = len(readings) > 1
    flags = set(zone.flags)
    for before, after in itertools.pairwise(readings):
        step = book(
            zone,
            before.value(zone.name),
            after.value(zone.name),
            after.t_us - before.t_us,
            after.slept_us - before.slept_us,
        )
        if step.energy_uj is None:
            whole = False
        else:
            booked += step.energy_uj
        if step.flag is not None:
            flags.add(step.flag)
    return ZoneEnergy(
        zone=zone,
        counted=zone.kind.counted,
        energy_uj=booked if whole else None,
        at_least_uj=booked,
        flags=in_order(flags),
    )
