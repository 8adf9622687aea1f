"""What the energy tests drive: a clock, and a powercap tree on disk whose counters follow it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harness.energy.account import Window
from harness.energy.choose import Sources
from harness.energy.clock import Clock
from harness.energy.meter import MeterInfo
from harness.energy.readings import ReadingLog, blob_ref
from harness.energy.records import IdleBaseline, Provenance, Zone, ZoneKind

HOST = "sha256:" + "ab" * 32
RANGE_UJ = 262143328850
WATT = 1_000_000


@dataclass
class Time:
    """A clock that moves only when told to, or when somebody sleeps on it."""

    now_ns: int = 5_000_000_000
    slept_ns: int = 0
    epoch_ns: int = 1_800_000_000 * 10**9
    followers: list[Callable[[int], None]] = field(default_factory=list)
    least_sleep_ns: int = 0

    def advance(self, seconds: float) -> None:
        step = max(round(seconds * 1e9), self.least_sleep_ns)
        self.now_ns += step
        self.epoch_ns += step
        for follow in self.followers:
            follow(step)

    def suspend(self, seconds: float) -> None:
        self.slept_ns += round(seconds * 1e9)

    @property
    def clock(self) -> Clock:
        return Clock(
            monotonic_ns=lambda: self.now_ns,
            boottime_ns=lambda: self.now_ns + self.slept_ns,
            epoch_ns=lambda: self.epoch_ns,
            sleep=self.advance,
        )


class Powercap:
    """A powercap tree in a folder, as the kernel lays it out (flat under the class, by folder name)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def add(
        self, folder: str, name: str, energy: int = 1_000_000, *, span: int | None = RANGE_UJ, limit: int | None = None
    ) -> Path:
        path = self.root / folder
        path.mkdir(parents=True)
        (path / "name").write_text(f"{name}\n")
        (path / "enabled").write_text("0\n")
        (path / "energy_uj").write_text(f"{energy}\n")
        if span is not None:
            (path / "max_energy_range_uj").write_text(f"{span}\n")
        if limit is not None:
            (path / "constraint_0_max_power_uw").write_text(f"{limit}\n")
        return path

    def set(self, folder: str, energy: int) -> None:
        (self.root / folder / "energy_uj").write_text(f"{energy}\n")

    def get(self, folder: str) -> int:
        return int((self.root / folder / "energy_uj").read_text())

    def draw(self, folder: str, power_uw: int, step_ns: int) -> None:
        """Let a counter run on at *power_uw* for *step_ns*, wrapping as the hardware does."""
        self.set(folder, (self.get(folder) + power_uw * step_ns // 10**9) % (RANGE_UJ + 1))

    def sources(self) -> Sources:
        """This tree with a quiet one-socket Intel host around it."""
        proc = self.root.parent / "proc"
        proc.mkdir(exist_ok=True)
        (proc / "cpuinfo").write_text("vendor_id\t: GenuineIntel\nmodel name\t: Test CPU\nphysical id\t: 0\n")
        (proc / "meminfo").write_text("MemTotal:       16300000 kB\n")
        (proc / "stat").write_text("cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n")
        machine = self.root.parent / "machine-id"
        machine.write_text("0123456789abcdef0123456789abcdef\n")
        return Sources(powercap=self.root, proc=proc, machine_id=machine)


def package(**changes: object) -> Zone:
    """One CPU package with the most common range and unit."""
    zone = Zone(
        name="package-0",
        kind=ZoneKind.PACKAGE,
        provenance=Provenance.COUNTER,
        range_uj=RANGE_UJ,
        unit_uj=61,
        update_us=1000,
    )
    return zone.model_copy(update=changes)


def idle_baseline(watts: int | None = 50, *, quick: bool = False, sigma_uw: int = 0, at_us: int = 0) -> IdleBaseline:
    """An idle power over the packages."""
    power = None if watts is None else watts * WATT
    return IdleBaseline(
        host_fingerprint=HOST,
        zone_set="cpu-package",
        power_uw=power,
        sigma_uw=sigma_uw,
        windows_uw=() if power is None else (power,) * 8,
        window_us=10_000_000,
        quick=quick,
        measured_us=at_us,
        reason="not calibrated" if power is None else None,
    )


def window(
    points: list[tuple[int, int]],
    *,
    zone: Zone | None = None,
    idle: IdleBaseline | None = None,
    started_us: int = 0,
    scripted: bool = False,
    shared: bool = False,
) -> tuple[Window, bytes]:
    """A window over one zone from ``(seconds, raw value)`` points, with its readings."""
    zone = zone or package()
    log = ReadingLog()
    for seconds, raw in points:
        log.append(seconds * 1_000_000, 0, {zone.name: raw})
    data = log.dump()
    made = Window(
        meter=MeterInfo("rapl"),
        zones=(zone,),
        readings=log.readings,
        blob=blob_ref(data),
        head=log.head,
        started_us=started_us,
        idle=idle or idle_baseline(),
        scripted=scripted,
        shared=shared,
    )
    return made, data
