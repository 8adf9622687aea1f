"""Sharing out one host's energy among attempts that ran at the same time, by the CPU time of each one's cgroup.

Per tick, active energy ``A = dE - P0 dt`` is split as ``A c_j / C_host``; what no attempt used goes to ``other``. Idle
energy is split by presence, ``P0 dt / n``, and told apart. All parts sum to the whole exactly. The shares are a model:
CPU time knows nothing of frequency, memory or caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.energy.records import EnergyFlag, Provenance, in_order

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
    """

    dt_us: int
    energy_uj: int
    host_cpu_us: int
    cpu_us: Mapping[str, int]


@dataclass(frozen=True)
class Share:
    """One attempt's part, in microjoules; ``active_uj`` is signed."""

    active_uj: int
    idle_uj: int


@dataclass(frozen=True)
class Attribution:
    """All parts: the attempts', and what belongs to none of them."""

    attempts: Mapping[str, Share]
    other: Share
    flags: tuple[EnergyFlag, ...]

    @property
    def total_uj(self) -> int:
        """The sum of the parts, equal to the sum of the ticks' energies."""
        parts = (*self.attempts.values(), self.other)
        return sum(part.active_uj + part.idle_uj for part in parts)


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
    other_active = other_idle = 0
    for tick in ticks:
        idle_uj = idle_uw * tick.dt_us // 1_000_000
        active_uj = tick.energy_uj - idle_uj
        # the two CPU clocks are read apart, so attempts can seem to use more than the host; never give out over 100%
        host = max(tick.host_cpu_us, sum(tick.cpu_us.values()))
        other_active += active_uj
        other_idle += idle_uj
        for name, used in tick.cpu_us.items():
            part = active_uj * used // host if host else 0
            presence = idle_uj // len(tick.cpu_us)
            active[name] += part
            idle[name] += presence
            other_active -= part
            other_idle -= presence
    flags = set()
    if any(len(tick.cpu_us) > 1 for tick in ticks):
        flags.add(EnergyFlag.SHARED)
    whole = sum(active.values()) + other_active
    if abs(other_active) * 100 > NOISY_PERCENT * abs(whole):
        flags.add(EnergyFlag.NOISY_HOST)
    shares = {name: Share(active[name], idle[name]) for name in names}
    return Attribution(shares, Share(other_active, other_idle), in_order(flags))
