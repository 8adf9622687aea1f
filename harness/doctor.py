"""What works here, what doesn't, and the remedy: one line a part. Nothing is installed, started or changed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.energy.choose import MeterStatus
from harness.engine.addresses import Surroundings
from harness.engine.client import Engine, engine_errors
from harness.engine.connect import connect
from harness.engine.runtime import Advisory, advisories
from harness.errors import TrialboxError
from harness.gateway.providers import Credential
from harness.records import Record
from harness.traces.rights import problems

_GIB = 1024**3
_ROOM_GIB = 10
"""Images, their build and a run's evidence fit in half of it."""
_PYTHONS = ((3, 11), (3, 14))
_LIMITS = {"MemoryLimit": "memory", "CpuCfsQuota": "cpu", "PidsLimit": "pids"}
_CONTROLLERS = ("cpu", "memory", "pids")
_SLOW_STORAGE = {"vfs", "devicemapper"}


class State(StrEnum):
    """How much of a part works here."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


class Line(Record):
    """One part: how much of it works here, the facts, and what to do."""

    part: str
    state: State
    detail: str
    remedy: str = ""


class DoctorReport(Record):
    """All parts, and what is known against the container runtime."""

    lines: tuple[Line, ...]
    advisories: tuple[Advisory, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether a run can work here: no part that it needs is missing."""
        return all(
            line.state is not State.MISSING for line in self.lines if line.part in {"python", "engine", "limits"}
        )


def survey(
    home: Path,
    *,
    meters: Sequence[MeterStatus] = (),
    keys: Sequence[Credential] = (),
    surroundings: Surroundings | None = None,
) -> DoctorReport:
    """Look at everything that a run would use.

    Args:
        home: the state folder, or where it would be made.
        meters: what :func:`harness.energy.choose.survey` says.
        keys: each model provider's key, or why there is none.
        surroundings: where to look for an engine; by default this process's environment.
    """
    here = surroundings or Surroundings()
    lines = [_python(), _disk("disk", home)]
    found: tuple[Advisory, ...] = ()
    same_kernel = True
    try:
        with connect(start=False, surroundings=here) as engine:
            same_kernel = engine.info.same_kernel
            engine_lines, found = _engine(engine)
            lines += engine_lines
    except TrialboxError as error:
        state = State.LIMITED if here.can_start and error.where == "engine" else State.MISSING
        lines.append(Line(part="engine", state=state, detail=f"{error.where}: {error.problem}", remedy=error.remedy))
    lines += [_tracer(same_kernel), _models(keys)]
    lines += [_meter(meter) for meter in meters]
    return DoctorReport(lines=tuple(lines), advisories=found)


def _python() -> Line:
    version = ".".join(str(part) for part in sys.version_info[:3])
    supported = _PYTHONS[0] <= sys.version_info[:2] <= _PYTHONS[1]
    return Line(
        part="python",
        state=State.OK if supported else State.LIMITED,
        detail=f"{version} on {sys.platform}",
        remedy="" if supported else "use Python 3.11 to 3.14",
    )


def _disk(part: str, folder: Path) -> Line:
    """Free space where *folder* is, or will be made."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    writable = os.access(place, os.W_OK)
    detail = f"{free // _GIB} GiB free at {place}" + ("" if writable else ", not writable")
    if not writable:
        return Line(part=part, state=State.MISSING, detail=detail, remedy="point TRIALBOX_HOME at a writable folder")
    if free < _ROOM_GIB * _GIB:
        return Line(part=part, state=State.LIMITED, detail=detail, remedy=f"keep {_ROOM_GIB} GiB free (`trialbox gc`)")
    return Line(part=part, state=State.OK, detail=detail)


# ---------------------------------------------------------------------------------------------------------- the engine


def _engine(engine: Engine) -> tuple[list[Line], tuple[Advisory, ...]]:
    info = engine.info
    with engine_errors("doctor"):
        facts: dict[str, Any] = engine.api.info()
    slow = info.storage_driver in _SLOW_STORAGE
    kernel = "this host's kernel" if info.same_kernel else "a kernel of its own (a virtual machine)"
    lines = [
        Line(
            part="engine",
            state=State.LIMITED if slow else State.OK,
            detail=f"{info.kind} {info.version} (API {info.api_version}) at {info.address}, {info.os}, "
            f"{info.storage_driver}, {kernel}, {info.cpus} CPUs, {info.memory_bytes // _GIB} GiB",
            remedy=f"storage driver {info.storage_driver} copies whole images; use overlay2" if slow else "",
        ),
        _limits(facts, f"cgroup v{info.cgroup_version}, {info.cgroup_driver} driver"),
    ]
    if info.same_kernel:
        lines.append(_controllers())
        if Path(info.root_dir).is_dir() and os.access(info.root_dir, os.W_OK):
            lines.append(_disk("engine disk", Path(info.root_dir)))
    name, version = info.runtime, info.runtime_version
    known = advisories(name, version)
    escapes = ", ".join(identifier for advisory in known for identifier in advisory.identifiers)
    lines.append(
        Line(
            part="runtime",
            state=State.LIMITED if known else State.OK,
            detail=f"{name} {version}" + (f": upstream versions this old have {escapes}" if known else ""),
            remedy=f"{known[-1].note}, or upgrade to {' or '.join(known[-1].fixed_in)}" if known else "",
        )
    )
    return lines, known


def _limits(facts: dict[str, Any], where: str) -> Line:
    missing = [name for key, name in _LIMITS.items() if not facts.get(key)]
    return Line(
        part="limits",
        state=State.MISSING if missing else State.OK,
        detail=f"{where}: " + (f"can't limit {', '.join(missing)}" if missing else "memory, CPU and processes"),
        remedy="run a rootful engine, or delegate these cgroup controllers to your user" if missing else "",
    )


def _controllers() -> Line:
    """The controllers that the kernel has, in either cgroup version: limits are read back there."""
    try:
        table = [line.split() for line in Path("/proc/cgroups").read_text(encoding="ascii").splitlines()]
        enabled = {row[0] for row in table if row and row[-1] == "1"}
    except OSError:
        enabled = set()
    unified = Path("/sys/fs/cgroup/cgroup.controllers")
    if unified.exists():
        enabled |= set(unified.read_text(encoding="ascii").split())
    missing = [name for name in _CONTROLLERS if name not in enabled]
    return Line(
        part="cgroups",
        state=State.LIMITED if missing else State.OK,
        detail=f"missing: {', '.join(missing)}" if missing else ", ".join(sorted(enabled)),
        remedy="boot with cgroup_enable=" + ",".join(missing) if missing else "",
    )


# ---------------------------------------------------------------------------------------------------- tracer and meters


def _tracer(same_kernel: bool) -> Line:
    """What will be seen of a solver's files and failed calls."""
    found = problems(same_kernel=same_kernel)
    works = [channel for channel, problem in found.items() if not problem]
    told = [f"{channel}: none ({problem})" for channel, problem in found.items() if problem]
    return Line(
        part="tracer",
        state=State.LIMITED if told else State.OK,
        detail="; ".join([*([f"sees {' and '.join(works)}"] if works else []), *told]),
        remedy="attempts run all the same; for traces, run as root with an engine on this kernel" if told else "",
    )


def _models(keys: Sequence[Credential]) -> Line:
    """Which providers a real run could ask; a dry one needs none."""
    have = [one.upstream for one in keys if one.key is not None]
    lack = [f"{one.upstream} ({one.reason})" for one in keys if one.key is None]
    known = f"a key, or none needed, for {', '.join(have)}" if have else "no provider has a key: dry runs only"
    return Line(part="models", state=State.OK, detail="; ".join([known, *lack]))


def _meter(meter: MeterStatus) -> Line:
    return Line(
        part=f"meter {meter.name}",
        state=State.OK if meter.available else State.LIMITED,
        detail=meter.detail,
        remedy=meter.remedy,
    )
