"""The one protocol behind which every meter stands, and several meters read as one.

A meter runs on the host, never inside a sandbox. It must be safe to read from several threads at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from harness.energy.records import Zone, ZoneKind, zone_set


class Gap(StrEnum):
    """Why a zone gave no value: a typed hole, never a zero."""

    PERMISSION = "permission"
    GONE = "gone"
    IO_ERROR = "io_error"
    MALFORMED = "malformed"
    NOT_SUPPORTED = "not_supported"
    FROZEN = "frozen"


Values = Mapping[str, int | Gap]
"""Zone name to raw value: microjoules of a counter, microwatts of an integrated or modelled zone."""


@dataclass(frozen=True)
class MeterInfo:
    """What a meter says of itself on the record and in ``doctor``.

    Args:
        notes: what was left out and why, one line each.
        watts: the estimator's active watts, as a decimal string.
        watts_source: where they come from, such as ``option`` or ``default``.
    """

    name: str
    notes: tuple[str, ...] = ()
    watts: str | None = None
    watts_source: str | None = None


@dataclass(frozen=True)
class Unavailable:
    """A meter that can't be used here, and what the user can do about it."""

    name: str
    why: str
    remedy: str


class Meter(Protocol):
    """A source of energy readings."""

    @property
    def name(self) -> str:
        """Such as ``rapl``, ``rapl+nvml`` or ``estimator``."""

    def zones(self) -> tuple[Zone, ...]:
        """What is read, in a stable order; names are unique."""

    def read(self) -> Values:
        """Every zone's value now. Never raises for a failing source: that zone is a :class:`Gap`."""

    def power_uw(self, zone: str) -> int | None:
        """An independent power reading of a counter zone, to check the counter against; None when there is none."""

    def describe(self) -> MeterInfo:
        """The meter's name, notes and assumptions."""

    def close(self) -> None:
        """Let go of the source."""


def counted(zones: Sequence[Zone]) -> tuple[Zone, ...]:
    """The zones that are summed."""
    return tuple(zone for zone in zones if zone.kind.counted)


def set_of(zones: Sequence[Zone]) -> str:
    """The zone set's name, such as ``cpu-package+dram+gpu``."""
    return zone_set([zone.kind for zone in zones])


def modelled_only(zones: Sequence[Zone]) -> bool:
    """Whether the zones are an estimate, which already is active energy."""
    return [zone.kind for zone in counted(zones)] == [ZoneKind.ESTIMATE]


class OffMeter:
    """No meter: wall time is kept, every energy is missing."""

    name = "off"

    def zones(self) -> tuple[Zone, ...]:
        """None."""
        return ()

    def read(self) -> Values:
        """Nothing."""
        return {}

    def power_uw(self, zone: str) -> int | None:
        """Nothing."""
        del zone
        return None

    def describe(self) -> MeterInfo:
        """``off``."""
        return MeterInfo(self.name)

    def close(self) -> None:
        """Nothing to do."""


class CompositeMeter:
    """Several meters read as one; their zones must have different names."""

    def __init__(self, parts: Sequence[Meter]) -> None:
        self._parts = tuple(parts)
        names = [zone.name for part in self._parts for zone in part.zones()]
        if len(names) != len(set(names)):
            raise ValueError(f"two meters share a zone name: {sorted(names)}")

    @property
    def name(self) -> str:
        """The parts' names joined by ``+``."""
        return "+".join(part.name for part in self._parts)

    def zones(self) -> tuple[Zone, ...]:
        """All zones of all parts."""
        return tuple(zone for part in self._parts for zone in part.zones())

    def read(self) -> Values:
        """All values of all parts."""
        return {name: value for part in self._parts for name, value in part.read().items()}

    def power_uw(self, zone: str) -> int | None:
        """Asks the part that owns the zone."""
        owner = next(part for part in self._parts if any(zone == owned.name for owned in part.zones()))
        return owner.power_uw(zone)

    def describe(self) -> MeterInfo:
        """The parts' notes in one list."""
        return MeterInfo(self.name, tuple(note for part in self._parts for note in part.describe().notes))

    def close(self) -> None:
        """Closes every part."""
        for part in self._parts:
            part.close()
