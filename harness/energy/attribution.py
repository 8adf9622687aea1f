"""Sharing out one host's energy among attempts that ran at the same time, by the CPU time of each one's cgroup.

Per tick, active energy ``A = dE - P0 dt`` is split as ``A c_j / C_host``; what no attempt used goes to ``other``. Idle
energy is split by presence, ``P0 dt / n``, and told apart. All parts sum to the whole exactly. The shares are a model:
CPU time knows nothing of frequency, memory or caches.

All attempts that run at once are read at the same moments, so that each one's share can be worked out, and checked,
from its own readings alone, and the shares of all still sum to the whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.energy.booking import book
from harness.energy.readings import Reading
from harness.energy.records import EnergyFlag, Provenance, Zone, in_order

NOISY_PERCENT = 10
PROVENANCE = Provenance.MODELLED


@dataclass(frozen=True)
class Tick:
    """One sampling interval.

    Args:
        dt_us: its length.
        energy_uj: what the counted zones drew in it.
        host_cpu_us: CPU time that the whole host used in it.
        cpu_us: CPU time of each attempt present, 0 for one that slept.
        beside: how many attempts more were present, whose parts are wanted in one sum only.
        beside_cpu_us: CPU time of those.
    """

    dt_us: int
    energy_uj: int
    host_cpu_us: int
    cpu_us: Mapping[str, int]
    beside: int = 0
    beside_cpu_us: int = 0


@dataclass(frozen=True)
class Share:
    """One attempt's part, in microjoules; ``active_uj`` is signed."""

    active_uj: int
    idle_uj: int


@dataclass(frozen=True)
class Attribution:
    """All parts: the attempts', and what belongs to none of them."""

    attempts: Mapping[str, Share]
    beside: Share
    """Of the attempts that are in the ticks without their names."""
    other: Share
    flags: tuple[EnergyFlag, ...]

    @property
    def total_uj(self) -> int:
        """The sum of the parts, equal to the sum of the ticks' energies."""
        parts = (*self.attempts.values(), self.beside, self.other)
        return sum(part.active_uj + part.idle_uj for part in parts)


OWN = "own"
"""The attempt whose readings they are."""


def shared_ticks(zones: Sequence[Zone], readings: Sequence[Reading]) -> tuple[Tick, ...] | None:
    """The intervals between one attempt's readings, in which it is :data:`OWN`; None if what the host or this attempt
    used, or drew, is unknown in one of them.

    An attempt whose CPU time can't be read is present in an interval, and what it drew is in ``other``.

    Args:
        zones: what the readings are of.
        readings: of one window.
    """
    summed = [zone for zone in zones if zone.kind.counted]
    ticks = []
    for before, after in itertools.pairwise(readings):
        dt_us, slept_us = after.t_us - before.t_us, after.slept_us - before.slept_us
        steps = [book(zone, before.value(zone.name), after.value(zone.name), dt_us, slept_us) for zone in summed]
        energy = [step.energy_uj for step in steps if step.energy_uj is not None]
        own, host = _used(before.cpu_us, after.cpu_us), _used(before.host_cpu_us, after.host_cpu_us)
        together = _used(before.attempts_cpu_us, after.attempts_cpu_us)
        if len(energy) < len(steps) or own is None or host is None or together is None or not after.present:
            return None
        ticks.append(
            Tick(
                dt_us=dt_us,
                energy_uj=sum(energy),
                host_cpu_us=host,
                cpu_us={OWN: own},
                beside=after.present - 1,
                beside_cpu_us=max(0, together - own),
            )
        )
    return tuple(ticks)


def _used(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)


def attribute(ticks: Sequence[Tick], idle_uw: int) -> Attribution:
    """Share out the ticks' energy.

    ``shared`` says that more than one attempt was present in some tick, ``noisy_host`` that over 10% of the active
    energy belongs to no attempt.

    Args:
        ticks: the window, in any order.
        idle_uw: the host's idle power.
    """
    names = sorted({name for tick in ticks for name in tick.cpu_us})
    active = dict.fromkeys(names, 0)
    idle = dict.fromkeys(names, 0)
    other_active = other_idle = beside_active = beside_idle = 0
    for tick in ticks:
        idle_uj = idle_uw * tick.dt_us // 1_000_000
        active_uj = tick.energy_uj - idle_uj
        # the two CPU clocks are read apart, so attempts can seem to use more than the host; never give out over 100%
        host = max(tick.host_cpu_us, sum(tick.cpu_us.values()) + tick.beside_cpu_us)
        presence = idle_uj // max(len(tick.cpu_us) + tick.beside, 1)
        unnamed = active_uj * tick.beside_cpu_us // host if host else 0
        beside_active += unnamed
        beside_idle += presence * tick.beside
        other_active -= unnamed
        other_idle -= presence * tick.beside
        other_active += active_uj
        other_idle += idle_uj
        for name, used in tick.cpu_us.items():
            part = active_uj * used // host if host else 0
            active[name] += part
            idle[name] += presence
            other_active -= part
            other_idle -= presence
    flags = set()
    if any(len(tick.cpu_us) + tick.beside > 1 for tick in ticks):
        flags.add(EnergyFlag.SHARED)
    whole = sum(active.values()) + beside_active + other_active
    if abs(other_active) * 100 > NOISY_PERCENT * abs(whole):
        flags.add(EnergyFlag.NOISY_HOST)
    shares = {name: Share(active[name], idle[name]) for name in names}
    return Attribution(shares, Share(beside_active, beside_idle), Share(other_active, other_idle), in_order(flags))
