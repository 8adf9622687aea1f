"""The host's idle power: what it draws while the harness waits and no attempt runs.

The median of 8 windows, with 1.4826 x the median absolute deviation as its spread: one busy moment moves neither, where
the lowest or highest window of a run would be wrong for ever after. Kept by host fingerprint for at most 7 days.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.energy.booking import book_zone, sample_period_us
from harness.energy.clock import Clock
from harness.energy.meter import Meter, counted, modelled_only, set_of
from harness.energy.readings import ReadingLog
from harness.energy.records import EnergyFlag, IdleBaseline, Zone, in_order
from harness.energy.selftest import self_test, tuned
from harness.errors import VerifyError
from harness.files import atomic_write
from harness.records import from_json, to_json

MAX_AGE_US = 7 * 24 * 3600 * 1_000_000
BUSY_LIMIT_PPM = 50_000
SPREAD_LIMIT_PERCENT = 5
STAT = Path("/proc/stat")


@dataclass(frozen=True)
class IdlePlan:
    """How long to look.

    Args:
        quick: a short look that serves smoke; whatever uses it is never publishable.
    """

    settle_us: int
    windows: int
    window_us: int
    quick: bool


FULL = IdlePlan(settle_us=10_000_000, windows=8, window_us=10_000_000, quick=False)
QUICK = IdlePlan(settle_us=0, windows=8, window_us=250_000, quick=True)


def median_and_sigma(values: Sequence[int]) -> tuple[int, int]:
    """The median, and 1.4826 x the median absolute deviation (a normal distribution's standard deviation)."""
    middle = statistics.median(values)
    deviation = statistics.median([abs(value - middle) for value in values])
    return round(middle), round(1.4826 * deviation)


def calibrate(meter: Meter, fingerprint: str, plan: IdlePlan, clock: Clock, stat: Path = STAT) -> IdleBaseline:
    """Self-test the meter and measure the idle power now. Takes ``settle + windows x window`` and up to 2 s.

    Call it with everything up and no attempt running. A busy (over 5%) or unsteady (spread over 5%) host is flagged
    ``noisy_host``. Where a reading fails there is no figure, but a reason.
    """
    if modelled_only(meter.zones()) or not counted(meter.zones()):
        return _without(fingerprint, meter.zones(), plan, clock, f"the meter `{meter.name}` measures nothing")
    test = self_test(meter, clock)
    zones = tuned(meter.zones(), test.update_us, test.flags)
    clock.sleep(plan.settle_us / 1_000_000)
    before = busy_ticks(stat)
    powers = [_window_uw(meter, zones, plan.window_us, clock) for _ in range(plan.windows)]
    busy = busy_ppm(before, busy_ticks(stat))
    known = [power for power in powers if power is not None]
    found = {"update_us": dict(test.update_us), "zone_flags": dict(test.flags)}
    if len(known) < len(powers) or not known:
        none = _without(fingerprint, zones, plan, clock, "a reading failed during the idle calibration")
        return none.model_copy(update=found)
    power, sigma = median_and_sigma(known)
    noisy = (busy is not None and busy >= BUSY_LIMIT_PPM) or sigma * 100 >= SPREAD_LIMIT_PERCENT * power
    return IdleBaseline(
        host_fingerprint=fingerprint,
        zone_set=set_of(zones),
        power_uw=power,
        sigma_uw=sigma,
        windows_uw=tuple(known),
        window_us=plan.window_us,
        busy_ppm=busy,
        quick=plan.quick,
        measured_us=clock.epoch_us(),
        update_us=dict(test.update_us),
        zone_flags=dict(test.flags),
        flags=in_order({EnergyFlag.NOISY_HOST} if noisy else set()),
    )


def idle_for(
    meter: Meter, fingerprint: str, plan: IdlePlan, *, folder: Path, clock: Clock, stat: Path = STAT
) -> IdleBaseline:
    """The idle power from the cache, or calibrated now and cached.

    A cached one counts when it is of this host and zone set, at most 7 days old, steady, and not quicker than asked
    for. A damaged file is calibrated anew.

    Raises:
        InfraError: the folder can't be written.
    """
    path = folder / f"idle-{fingerprint.removeprefix('sha256:')[:32]}.json"
    cached = _load(path)
    if cached is not None and _usable(cached, fingerprint, plan, clock.epoch_us()):
        return cached
    fresh = calibrate(meter, fingerprint, plan, clock, stat)
    if fresh.power_uw is not None and not fresh.flags:
        atomic_write(path, to_json(fresh))
    return fresh


def _load(path: Path) -> IdleBaseline | None:
    try:
        return from_json(IdleBaseline, path.read_bytes(), str(path))
    except (OSError, VerifyError):
        return None


def _usable(cached: IdleBaseline, fingerprint: str, plan: IdlePlan, now_us: int) -> bool:
    return (
        cached.power_uw is not None
        and cached.host_fingerprint == fingerprint
        and 0 <= now_us - cached.measured_us <= MAX_AGE_US
        and (plan.quick or not cached.quick)
        and not cached.flags
    )


def _without(fingerprint: str, zones: Sequence[Zone], plan: IdlePlan, clock: Clock, reason: str) -> IdleBaseline:
    return IdleBaseline(
        host_fingerprint=fingerprint,
        zone_set=set_of(zones),
        power_uw=None,
        quick=plan.quick,
        measured_us=clock.epoch_us(),
        reason=reason,
    )


def _window_uw(meter: Meter, zones: Sequence[Zone], window_us: int, clock: Clock) -> int | None:
    """Mean power of the counted zones over one window; None if any reading failed."""
    log = ReadingLog()
    origin, asleep = clock.now()
    log.append(0, 0, meter.read())
    t_us = 0
    while t_us < window_us:
        clock.sleep(min(sample_period_us(zones), window_us - t_us) / 1_000_000)
        now, slept = clock.now()
        t_us = (now - origin) // 1000
        log.append(t_us, (slept - asleep) // 1000, meter.read())
    energies = [book_zone(zone, log.readings).energy_uj for zone in counted(zones)]
    whole = [energy for energy in energies if energy is not None]
    return sum(whole) * 1_000_000 // t_us if len(whole) == len(energies) else None


def busy_ticks(stat: Path = STAT) -> tuple[int, int] | None:
    """Busy and total processor ticks since boot (proc_stat(5)); None where the file isn't there."""
    try:
        first = stat.read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    # guest time is already part of user time, so only the first eight columns are summed
    ticks = [int(tick) for tick in first[1:9]]
    return sum(ticks) - sum(ticks[3:5]), sum(ticks)


def busy_ppm(before: tuple[int, int] | None, after: tuple[int, int] | None) -> int | None:
    """The busy share between two readings, in millionths."""
    if before is None or after is None or after[1] <= before[1]:
        return None
    return max(0, after[0] - before[0]) * 1_000_000 // (after[1] - before[1])
