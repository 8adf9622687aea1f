"""RAPL: Intel's and AMD's CPU energy counters, as the kernel's powercap tree gives them.

Zones are told by the text of their ``name`` file; folder numbers say nothing about sockets. The facts come from the
kernel's ``Documentation/power/powercap/powercap.rst`` and ``drivers/powercap/intel_rapl_common.c``: a 32-bit hardware
counter scaled to microjoules, so that ``max_energy_range_uj`` is ``(2^32 - 1) x unit``. ``enabled`` speaks of the power
limit, not of the counter, and is not looked at.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from pathlib import Path

from harness.energy.meter import Gap, MeterInfo, Unavailable, Values, set_of
from harness.energy.records import Provenance, Zone, ZoneKind

POWERCAP = Path("/sys/class/powercap")
CPUINFO = Path("/proc/cpuinfo")

_FOLDER = re.compile(r"(?P<control>intel-rapl|intel-rapl-mmio)(?P<path>(:[0-9a-f]+)+)", re.ASCII)
_MSR = "intel-rapl"
_KINDS = {"dram": ZoneKind.DRAM, "psys": ZoneKind.PSYS, "core": ZoneKind.CORE, "uncore": ZoneKind.UNCORE}
_LEAST_PEAK_UW = 1_000_000_000
_DEFAULT_UNIT_UJ = 61
_COUNTER_STEPS = 2**32 - 1
_UPDATE_US = 1000
_DEPTH = 3


@dataclass(frozen=True)
class _Found:
    folder: Path
    control: str
    path: str
    label: str
    kind: ZoneKind


class RaplMeter:
    """The packages and DRAM of this host; psys, core and uncore beside them, recorded and never summed."""

    name = "rapl"

    def __init__(self, zones: dict[Path, Zone], notes: tuple[str, ...]) -> None:
        self._files = zones
        self._notes = notes

    def zones(self) -> tuple[Zone, ...]:
        """In the order of their names."""
        return tuple(self._files.values())

    def read(self) -> Values:
        """Every counter in microjoules."""
        return {zone.name: read_counter(path) for path, zone in self._files.items()}

    def power_uw(self, zone: str) -> int | None:
        """None: RAPL has no second source."""
        del zone
        return None

    def describe(self) -> MeterInfo:
        """What was found and what was left out."""
        return MeterInfo(self.name, self._notes)

    def close(self) -> None:
        """Nothing to do: files are opened for each reading."""


def read_counter(path: Path) -> int | Gap:
    """One counter file's value, or why there is none."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        return Gap.MALFORMED
    except OSError as error:
        if error.errno in {errno.EACCES, errno.EPERM}:
            return Gap.PERMISSION
        if error.errno in {errno.ENOENT, errno.ENODEV, errno.ENXIO}:
            return Gap.GONE
        return Gap.IO_ERROR
    return int(text) if re.fullmatch(r"[0-9]{1,20}", text, re.ASCII) else Gap.MALFORMED


def open_rapl(root: Path = POWERCAP, cpuinfo: Path = CPUINFO) -> RaplMeter | Unavailable:
    """The RAPL meter of this host.

    Args:
        root: the powercap tree; another one where the host's is mounted elsewhere.
        cpuinfo: tells AMD, of whose zones only the packages can be trusted.
    """
    found, notes = _discover(root)
    if _is_amd(cpuinfo):
        notes += [f"{zone.label} left out: AMD's are not trustworthy" for zone in found if not _is_package(zone)]
        found = [zone for zone in found if _is_package(zone)]
    if not any(_is_package(zone) for zone in found):
        return Unavailable(
            "rapl",
            f"no CPU package counter under {root}",
            "virtual machines and containers hide it: run on the host itself, or use --energy estimator",
        )
    zones: dict[Path, Zone] = {}
    for each in found:
        counter = each.folder / "energy_uj"
        value = read_counter(counter)
        if not isinstance(value, Gap):
            zones[counter] = _zone(each)
        elif _is_package(each):
            return _unreadable(each, counter, value)
        else:
            notes.append(f"{each.label} left out: its counter can't be read ({value.value})")
    notes.insert(0, f"sums {set_of(tuple(zones.values()))}")
    return RaplMeter(zones, tuple(notes))


def _unreadable(zone: _Found, counter: Path, gap: Gap) -> Unavailable:
    if gap is Gap.PERMISSION:
        remedy = f"run as root, or let your group read it: sudo chgrp $(id -gn) {counter} && sudo chmod g+r {counter}"
    else:
        remedy = "look at the kernel's log for intel_rapl errors, or use --energy estimator"
    return Unavailable("rapl", f"{zone.label} can't be read ({gap.value}): {counter}", remedy)


def _is_package(zone: _Found) -> bool:
    return zone.kind is ZoneKind.PACKAGE


def _discover(root: Path) -> tuple[list[_Found], list[str]]:
    """Every zone once, by label; a memory-mapped twin counts the same joules as its register twin and is dropped."""
    folders: dict[str, Path] = {}
    for depth in range(_DEPTH):
        for folder in sorted(root.glob("/".join(["intel-rapl*"] * (depth + 1)))):
            if _FOLDER.fullmatch(folder.name):
                folders.setdefault(folder.name, folder)
    names = {key: _name(folder) for key, folder in folders.items()}
    by_label: dict[str, _Found] = {}
    notes = []
    for key, folder in sorted(folders.items(), key=lambda item: (not item[0].startswith(f"{_MSR}:"), item[0])):
        name = names[key]
        match = _FOLDER.fullmatch(key)
        kind = ZoneKind.PACKAGE if name.startswith("package-") else _KINDS.get(name)
        if match is None or kind is None:
            notes.append(f"{key} left out: unknown zone {name!r}")
            continue
        parent = names.get(key.rpartition(":")[0])
        label = f"{parent}/{name}" if parent else name
        if label in by_label:
            notes.append(f"{key} left out: the same counter as {by_label[label].folder.name}")
            continue
        by_label[label] = _Found(folder, match["control"], match["path"], label, kind)
    return sorted(by_label.values(), key=lambda zone: zone.label), notes


def _name(folder: Path) -> str:
    try:
        return (folder / "name").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _zone(found: _Found) -> Zone:
    span = read_counter(found.folder / "max_energy_range_uj")
    limit = read_counter(found.folder / "constraint_0_max_power_uw")
    known = None if isinstance(span, Gap) or span == 0 else span
    return Zone(
        name=found.label,
        kind=found.kind,
        provenance=Provenance.COUNTER,
        range_uj=known,
        unit_uj=max(1, known // _COUNTER_STEPS) if known else _DEFAULT_UNIT_UJ,
        update_us=_UPDATE_US,
        peak_uw=max(_LEAST_PEAK_UW, 0 if isinstance(limit, Gap) else 2 * limit),
    )


def _is_amd(cpuinfo: Path) -> bool:
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^vendor_id\s*:\s*AuthenticAMD\s*$", text, re.MULTILINE) is not None
