"""A meter's self-test: does each counter move, how often, and does a GPU's counter agree with its own power?

Counters freeze on some parts, and others count a fraction of what is drawn; both give plausible small numbers.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.energy.booking import book
from harness.energy.clock import Clock
from harness.energy.meter import Gap, Meter, counted
from harness.energy.records import EnergyFlag, Provenance, Zone, ZoneKind, in_order

DURATION_US = 2_000_000
CHANGES_NEEDED = 20
DISAGREEMENT_PERCENT = 20
_POLL_S = 0.0002


@dataclass(frozen=True)
class SelfTest:
    """What was found, by zone name: the median update period, and flags where something is wrong."""

    update_us: Mapping[str, int] = field(default_factory=dict)
    flags: Mapping[str, tuple[EnergyFlag, ...]] = field(default_factory=dict)


@dataclass
class _Trace:
    """One counter's changes, and its power at each poll."""

    zone: Zone
    last: int | None = None
    changes: list[tuple[int, int]] = field(default_factory=list)
    powers: list[tuple[int, int]] = field(default_factory=list)
    seen: int = 0

    def see(self, t_us: int, value: int, power_uw: int | None) -> None:
        self.seen += 1
        if self.last is not None and value != self.last:
            self.changes.append((t_us, value))
        self.last = value
        if power_uw is not None:
            self.powers.append((t_us, power_uw))

    @property
    def settled(self) -> bool:
        """Nothing more to learn: enough changes, and no power to check against."""
        return len(self.changes) > CHANGES_NEEDED and not self.powers


def self_test(meter: Meter, clock: Clock) -> SelfTest:
    """Poll every summed counter for 2 s, or less when every one of them has shown its pace."""
    traces = [_Trace(zone) for zone in counted(meter.zones()) if zone.provenance is Provenance.COUNTER]
    start = clock.monotonic_ns()
    while traces:
        values = meter.read()
        t_us = (clock.monotonic_ns() - start) // 1000
        for trace in traces:
            value = values[trace.zone.name]
            if not isinstance(value, Gap):
                trace.see(t_us, value, meter.power_uw(trace.zone.name))
        if t_us >= DURATION_US or all(trace.settled for trace in traces):
            break
        clock.sleep(_POLL_S)
    return SelfTest(
        {trace.zone.name: pace for trace in traces if (pace := _pace_us(trace)) is not None},
        {trace.zone.name: flags for trace in traces if (flags := _flags(trace))},
    )


def _pace_us(trace: _Trace) -> int | None:
    times = [t_us for t_us, _ in trace.changes]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    return max(1, round(statistics.median(gaps))) if gaps else None


def _flags(trace: _Trace) -> tuple[EnergyFlag, ...]:
    flags = set()
    if trace.seen > 1 and not trace.changes:
        flags.add(EnergyFlag.FROZEN)
    if _disagrees(trace):
        flags.add(EnergyFlag.COUNTER_DISAGREES)
    return in_order(flags)


def _disagrees(trace: _Trace) -> bool:
    """Whether the counter and the integral of the power differ by over 20% between the first and the last change."""
    if len(trace.changes) < 2 or not trace.powers:
        return False
    (begin, first), (end, last) = trace.changes[0], trace.changes[-1]
    counted = book(trace.zone, first, last, end - begin).energy_uj
    inside = [(t_us, power) for t_us, power in trace.powers if begin <= t_us <= end]
    integral = sum(
        (before + after) * (until - since) // 2_000_000
        for (since, before), (until, after) in itertools.pairwise(inside)
    )
    return counted is None or abs(counted - integral) * 100 > DISAGREEMENT_PERCENT * integral


def tuned(
    zones: Sequence[Zone], update_us: Mapping[str, int], flags: Mapping[str, Sequence[EnergyFlag]]
) -> tuple[Zone, ...]:
    """The zones with what a self-test found.

    A frozen counter is rejected. Frozen DRAM, which many parts list and few have, leaves the zone set; any other frozen
    zone stays and makes the sum unavailable, because leaving out a socket would pass for saving energy.
    """
    out = []
    for zone in zones:
        marks = set(zone.flags) | set(flags.get(zone.name, ()))
        frozen = EnergyFlag.FROZEN in marks
        if frozen and zone.kind is ZoneKind.DRAM:
            continue
        out.append(
            zone.model_copy(
                update={
                    "update_us": update_us.get(zone.name, zone.update_us),
                    "flags": in_order(marks),
                    "provenance": Provenance.UNAVAILABLE if frozen else zone.provenance,
                }
            )
        )
    return tuple(out)
