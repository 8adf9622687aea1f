"""Which meter a run uses, and what ``doctor`` says of each."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from harness.energy.bracket import Session
from harness.energy.clock import Clock
from harness.energy.estimator import EstimatorMeter, Watts, active_watts
from harness.energy.fingerprint import MACHINE_ID, PROC, host_facts
from harness.energy.idle import FULL, QUICK, calibrate, idle_for
from harness.energy.meter import CompositeMeter, Meter, OffMeter, Unavailable, set_of
from harness.energy.rapl import POWERCAP, RaplMeter, open_rapl
from harness.energy.records import IdleBaseline
from harness.errors import UserError


class MeterChoice(StrEnum):
    """The values of ``--energy``."""

    AUTO = "auto"
    """Counters where any reads, else the estimator."""
    MEASURED = "measured"
    """Counters, or an error."""
    RAPL = "rapl"
    NVML = "nvml"
    ESTIMATOR = "estimator"
    OFF = "off"


@dataclass(frozen=True)
class Sources:
    """Where the host's own files are. Only a test, or a host that mounts them elsewhere, changes these."""

    powercap: Path = POWERCAP
    proc: Path = PROC
    machine_id: Path = MACHINE_ID


@dataclass(frozen=True)
class EnergyRequest:
    """What the user asked for.

    Args:
        watts: the estimator's active watts; see :func:`harness.energy.estimator.active_watts`.
        quick_idle: calibrate in 2 s instead of 90 s; the figures are marked and can't be published.
    """

    choice: MeterChoice = MeterChoice.AUTO
    watts: Watts = field(default_factory=lambda: active_watts(None, os.environ))
    quick_idle: bool = True


@dataclass(frozen=True)
class MeterStatus:
    """One line of ``doctor``: what a meter gives here, or why not and the remedy."""

    name: str
    available: bool
    detail: str
    remedy: str = ""


def choose(request: EnergyRequest, sources: Sources | None = None) -> Meter:
    """The meter that the request names.

    Raises:
        UserError: a counter was asked for by name, or by ``measured``, and can't be read here.
    """
    sources = sources or Sources()
    match request.choice:
        case MeterChoice.AUTO:
            readable, _ = _counters(sources)
            return _together(readable) if readable else EstimatorMeter(request.watts)
        case MeterChoice.MEASURED:
            readable, failed = _counters(sources)
            if not readable:
                why = "; ".join(f"{each.name}: {each.why}" for each in failed)
                raise UserError("--energy measured", f"no energy counter reads here ({why})", failed[0].remedy)
            return _together(readable)
        case MeterChoice.RAPL:
            return _insist(_rapl(sources))
        case MeterChoice.NVML:
            return _insist(_nvml())
        case MeterChoice.ESTIMATOR:
            return EstimatorMeter(request.watts)
        case MeterChoice.OFF:
            return OffMeter()
        case _:
            assert_never(request.choice)


def open_session(
    request: EnergyRequest, cache: Path, clock: Clock | None = None, sources: Sources | None = None
) -> Session:
    """The meter, self-tested, with its idle power from *cache* or calibrated now (2 s quick, else about 90 s).

    Call it with engine and gateway up and no attempt running, since it measures the host as it idles.

    Args:
        cache: the folder for idle calibrations.

    Raises:
        UserError: see :func:`choose`.
        InfraError: the cache folder can't be written.
    """
    sources = sources or Sources()
    clock = clock or Clock()
    meter = choose(request, sources)
    fingerprint = host_facts(meter.zones(), sources.proc, sources.machine_id).fingerprint
    plan = QUICK if request.quick_idle else FULL
    idle = idle_for(meter, fingerprint, plan, folder=cache, clock=clock, stat=sources.proc / "stat")
    return Session(meter, idle, clock, sources.proc / "stat")


def recheck(session: Session, sources: Sources | None = None) -> IdleBaseline:
    """The idle power once more, after the last attempt: what :func:`harness.energy.account.settle` needs.

    Takes as long as the calibration before did; instant for the estimator.
    """
    stat = (sources or Sources()).proc / "stat"
    plan = QUICK if session.idle.quick else FULL
    return calibrate(session.meter, session.idle.host_fingerprint, plan, session.clock, stat)


def survey(watts: Watts, sources: Sources | None = None) -> tuple[MeterStatus, ...]:
    """Every meter there is: usable here or not, why, and what to do."""
    sources = sources or Sources()
    lines = []
    for opened in (_rapl(sources), _nvml()):
        if isinstance(opened, Unavailable):
            lines.append(MeterStatus(opened.name, available=False, detail=opened.why, remedy=opened.remedy))
        else:
            detail = "; ".join((set_of(opened.zones()), *opened.describe().notes))
            lines.append(MeterStatus(opened.name, available=True, detail=detail))
            opened.close()
    lines.append(MeterStatus("ioreport", available=False, detail=_IOREPORT, remedy="use --energy estimator on a Mac"))
    detail = f"{watts.value} W ({watts.source}), always labelled Estimator"
    lines.append(MeterStatus("estimator", available=True, detail=detail))
    return tuple(lines)


_IOREPORT = "Apple's IOReport energy model is not supported" + (
    "" if sys.platform == "darwin" else ", here or on a Mac"
)


def _rapl(sources: Sources) -> RaplMeter | Unavailable:
    return open_rapl(sources.powercap, sources.proc / "cpuinfo")


def _nvml() -> Meter | Unavailable:
    # imported on demand: a start that asks for no GPU must not load the vendor's bindings
    from harness.energy.nvml import open_nvml

    return open_nvml()


def _counters(sources: Sources) -> tuple[list[Meter], list[Unavailable]]:
    opened: list[Meter | Unavailable] = [_rapl(sources), _nvml()]
    readable = [each for each in opened if not isinstance(each, Unavailable)]
    return readable, [each for each in opened if isinstance(each, Unavailable)]


def _together(meters: list[Meter]) -> Meter:
    return meters[0] if len(meters) == 1 else CompositeMeter(meters)


def _insist(opened: Meter | Unavailable) -> Meter:
    if isinstance(opened, Unavailable):
        raise UserError(f"--energy {opened.name}", opened.why, opened.remedy)
    return opened
