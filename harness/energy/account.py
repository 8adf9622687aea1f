"""From a window's zone energies to the attempt's record: gross, idle and active, or why not.

Pure: a record can be made again from its own readings, which is how :func:`verify` checks one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.energy.attribution import OWN, PROVENANCE, attribute, shared_ticks
from harness.energy.booking import book_zone
from harness.energy.floor import floor_flags, uncertainty_uj
from harness.energy.meter import MeterInfo, counted, modelled_only, set_of
from harness.energy.readings import Reading, blob_ref, load_chain
from harness.energy.records import EnergyFlag, EnergyRecord, IdleBaseline, Zone, ZoneEnergy, in_order, weakest
from harness.errors import VerifyError
from harness.records import BlobRef

DRIFT_PERCENT = 5


@dataclass(frozen=True)
class Window:
    """What one bracket saw.

    Args:
        started_us: when it opened, microseconds since the epoch.
        scripted: a reference, noop or wrong solver, always marked ``~``.
        shared: another attempt ran at the same time, so the host's energy is not this attempt's.
        shared_out: a shared window is shared out by the CPU times in its readings.
    """

    meter: MeterInfo
    zones: tuple[Zone, ...]
    readings: tuple[Reading, ...]
    blob: BlobRef
    head: str
    started_us: int
    idle: IdleBaseline
    scripted: bool = False
    shared: bool = False
    shared_out: bool = False


@dataclass(frozen=True)
class _Figures:
    gross: int | None
    idle: int | None
    active: int | None
    uncertainty: int | None
    missing: dict[str, str]
    flags: set[EnergyFlag]


def account(window: Window) -> EnergyRecord:
    """The record of one window."""
    wall_us = window.readings[-1].t_us
    energies = tuple(book_zone(zone, window.readings) for zone in window.zones)
    summed = [energy for energy in energies if energy.counted]
    whole = _sum(summed)
    figures = _modelled(whole) if modelled_only(window.zones) else _metered(window, whole, wall_us)
    shared_out = window.shared_out and figures.active is not None
    flags = figures.flags | _seen(window, summed)
    if figures.active is not None and figures.gross is not None:
        spread = uncertainty_uj(energies, wall_us, window.idle.sigma_uw, len(window.idle.windows_uw))
        flags |= floor_flags(figures.active, spread, wall_us, window.zones)
        figures = replace(figures, uncertainty=spread)
    return EnergyRecord(
        meter=window.meter.name,
        zone_set=set_of(window.zones),
        provenance=PROVENANCE if shared_out else weakest([zone.provenance for zone in counted(window.zones)]),
        host_fingerprint=window.idle.host_fingerprint,
        started_us=window.started_us,
        wall_us=wall_us,
        zones=energies,
        gross_uj=figures.gross,
        idle_uj=figures.idle,
        active_uj=figures.active,
        uncertainty_uj=figures.uncertainty,
        at_least_uj=max(figures.gross or 0, 0) if shared_out else sum(energy.at_least_uj for energy in summed),
        missing=figures.missing,
        idle=window.idle,
        estimator_watts=window.meter.watts,
        estimator_source=window.meter.watts_source,
        flags=in_order(flags),
        reliable=figures.active is not None and not any(flag.marks for flag in flags),
        readings=window.blob,
        chain_head=window.head,
        shared_out=window.shared_out,
    )


def _sum(summed: list[ZoneEnergy]) -> int | None:
    """All zones' energy; None when there are none, or one of them is unknown."""
    known = [energy.energy_uj for energy in summed if energy.energy_uj is not None]
    return sum(known) if known and len(known) == len(summed) else None


def _seen(window: Window, summed: list[ZoneEnergy]) -> set[EnergyFlag]:
    flags = {flag for energy in summed for flag in energy.flags}
    if window.scripted:
        flags.add(EnergyFlag.SCRIPTED)
    if window.shared:
        flags.add(EnergyFlag.SHARED)
    return flags


def _modelled(whole: int | None) -> _Figures:
    only_active = "the estimator models active energy alone"
    missing = {"gross_uj": only_active, "idle_uj": only_active, "uncertainty_uj": "a modelled figure has none"}
    if whole is None:
        missing["active_uj"] = "part of the window is unknown"
    return _Figures(None, None, whole, None, missing, {EnergyFlag.MODELLED})


def _metered(window: Window, whole: int | None, wall_us: int) -> _Figures:
    idle = window.idle
    missing: dict[str, str] = {}
    flags = set(idle.flags)
    if whole is None:
        missing["gross_uj"] = "no meter" if not counted(window.zones) else "part of the window is unknown"
    idle_uj = None
    if idle.power_uw is None:
        missing["idle_uj"] = idle.reason or "no idle power is known"
        flags.add(EnergyFlag.NO_IDLE)
    elif idle.zone_set != set_of(window.zones):
        missing["idle_uj"] = f"idle power was calibrated over {idle.zone_set}"
        flags.add(EnergyFlag.NO_IDLE)
    else:
        idle_uj = idle.power_uw * wall_us // 1_000_000
        if idle.quick:
            flags.add(EnergyFlag.QUICK_IDLE)
    active = None
    if window.shared_out:
        return _shared(window, whole, idle_uj, missing, flags)
    if window.shared:
        missing["active_uj"] = "other attempts ran in the same window"
    elif whole is None or idle_uj is None:
        missing["active_uj"] = next(iter(missing.values()))
    else:
        active = whole - idle_uj
    if active is None:
        missing["uncertainty_uj"] = "there is no active figure"
    return _Figures(whole, idle_uj, active, None, missing, flags)


def _shared(
    window: Window, whole: int | None, idle_uj: int | None, missing: dict[str, str], flags: set[EnergyFlag]
) -> _Figures:
    """An attempt's share of a window in which others ran too."""
    ticks = shared_ticks(window.zones, window.readings)
    if whole is not None and idle_uj is not None and ticks:
        parts = attribute(ticks, window.idle.power_uw or 0)
        mine = parts.attempts[OWN]
        gross = mine.active_uj + mine.idle_uj
        return _Figures(gross, mine.idle_uj, mine.active_uj, None, missing, flags | set(parts.flags))
    lost = "other attempts ran in the same window, and some CPU time could not be read"
    missing["active_uj"] = next(iter(missing.values()), lost)
    missing["uncertainty_uj"] = "there is no active figure"
    return _Figures(whole, idle_uj, None, None, missing, flags)


def settle(record: EnergyRecord, data: bytes, after: IdleBaseline) -> EnergyRecord:
    """The record again with the idle power interpolated between the calibrations before and after the run.

    More than 5% between the two is flagged ``idle_drift``. The estimator and a record without an idle power stay as
    they are.

    Args:
        record: the attempt's record.
        data: its readings.
        after: the calibration at the end of the run.
    """
    before = record.idle
    if before.power_uw is None or after.power_uw is None or before.zone_set != after.zone_set:
        return record
    span = after.measured_us - before.measured_us
    at = record.started_us + record.wall_us // 2 - before.measured_us
    share = min(max(at, 0), span) if span > 0 else 0
    power = before.power_uw + (after.power_uw - before.power_uw) * share // max(span, 1)
    flags = set(before.flags) | set(after.flags)
    if drifted(before, after):
        flags.add(EnergyFlag.IDLE_DRIFT)
    idle = before.model_copy(
        update={
            "power_uw": power,
            "sigma_uw": max(before.sigma_uw, after.sigma_uw),
            "quick": before.quick or after.quick,
            "flags": in_order(flags),
        }
    )
    return account(_window(record, data, idle))


def drifted(before: IdleBaseline, after: IdleBaseline) -> bool:
    """Whether two idle powers differ by more than 5%; False when either is missing."""
    if before.power_uw is None or after.power_uw is None:
        return False
    return abs(after.power_uw - before.power_uw) * 100 > DRIFT_PERCENT * before.power_uw


def verify(record: EnergyRecord, data: bytes) -> None:
    """Check a record against its raw readings: the blob, the chain, and every figure booked again.

    Raises:
        VerifyError: the readings were changed, or do not give the record's figures.
    """
    if blob_ref(data) != record.readings:
        raise VerifyError("energy readings", "are not the recorded bytes", "restore the blob from a copy")
    if account(_window(record, data, record.idle)) != record:
        raise VerifyError("energy record", "does not follow from its readings", "the record was changed after the run")


def _window(record: EnergyRecord, data: bytes, idle: IdleBaseline) -> Window:
    notes = MeterInfo(record.meter, (), record.estimator_watts, record.estimator_source)
    return Window(
        meter=notes,
        zones=tuple(energy.zone for energy in record.zones),
        readings=load_chain(data, record.chain_head),
        blob=record.readings,
        head=record.chain_head,
        started_us=record.started_us,
        idle=idle,
        scripted=EnergyFlag.SCRIPTED in record.flags,
        shared=EnergyFlag.SHARED in record.flags,
        shared_out=record.shared_out,
    )
