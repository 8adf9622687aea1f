"""What energy is made of: zones, their provenance, and the record that an attempt keeps.

Energies are integer microjoules, powers integer microwatts, times integer microseconds. A figure that could not be had
is ``None`` and has its reason in :attr:`EnergyRecord.missing`. ``active_uj`` is signed: a run that drew less than the
idle host keeps its minus sign, since clamping it would bias every mean upward.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.digest import MAX_SAFE_INTEGER, Digest
from harness.records import BlobRef, Count, Grown, Record

Signed = Annotated[int, Field(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
Decimals = Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6})?$")]

SCOPE: Literal["host_marginal"] = "host_marginal"
"""What a figure covers: this host's energy over its idle draw. A remote model's energy is unknown, never zero."""


class Provenance(StrEnum):
    """How a figure came about, from strongest to weakest."""

    COUNTER = "counter"
    """A hardware energy counter was read."""
    INTEGRATED = "integrated"
    """Measured power was integrated over time."""
    MODELLED = "modelled"
    """Computed from an assumption, such as wall time x assumed watts."""
    UNAVAILABLE = "unavailable"
    """Nothing could be read."""


_STRENGTH = tuple(Provenance)


def weakest(provenances: list[Provenance]) -> Provenance:
    """The weakest of several provenances; of none, ``unavailable``."""
    return max(provenances, key=_STRENGTH.index, default=Provenance.UNAVAILABLE)


class ZoneKind(StrEnum):
    """What part of the host a zone meters."""

    PACKAGE = "package"
    DRAM = "dram"
    GPU = "gpu"
    ESTIMATE = "estimate"
    PSYS = "psys"
    CORE = "core"
    UNCORE = "uncore"

    @property
    def counted(self) -> bool:
        """Whether the zone is part of the sum.

        psys contains the packages, and the packages contain core and uncore: these are recorded, never summed. DRAM is
        not part of a package.
        """
        return self in _SUMMED


_SUMMED = {
    ZoneKind.PACKAGE: "cpu-package",
    ZoneKind.DRAM: "dram",
    ZoneKind.GPU: "gpu",
    ZoneKind.ESTIMATE: "estimate",
}


def zone_set(kinds: list[ZoneKind]) -> str:
    """The name of what is summed, such as ``cpu-package+dram``; ``none`` when nothing is."""
    return "+".join(name for kind, name in _SUMMED.items() if kind in kinds) or "none"


class EnergyFlag(StrEnum):
    """What a reader must know about a figure: a closed set."""

    READ_GAP = "read_gap"
    """A reading failed or came too late, so part of the window is unknown."""
    COUNTER_RESET = "counter_reset"
    """A counter went back and no wrap explains it."""
    WRAP_AMBIGUOUS = "wrap_ambiguous"
    """Two readings are so far apart that the counter may have wrapped more than once."""
    SUSPENDED = "suspended"
    """The host slept inside the window."""
    FROZEN = "frozen"
    """The counter stood still while the host drew power."""
    IMPOSSIBLE = "impossible"
    """The counter rose faster than the part can draw power, or left its range."""
    COUNTER_DISAGREES = "counter_disagrees"
    """A GPU's counter and the integral of its power differ by more than a fifth."""
    MODULE_SCOPE = "module_scope"
    """The GPU's counter covers a whole module, CPU included."""
    SHARED = "shared"
    """Another attempt ran in the same window: the figure is a share by CPU time, or there is none."""
    NOISY_HOST = "noisy_host"
    """The host was busy or unsteady while its idle power was calibrated."""
    NO_IDLE = "no_idle"
    """No idle power is known for this host and meter."""
    QUICK_IDLE = "quick_idle"
    """The idle power comes from a quick calibration: good for smoke, never for publication."""
    IDLE_DRIFT = "idle_drift"
    """The idle power moved by more than 5% between the calibrations before and after."""
    SHORT_WINDOW = "short_window"
    """The window is shorter than the meter's own window or 20 of its update periods."""
    BELOW_FLOOR = "below_floor"
    """The energy is under three uncertainties: read it as less than that."""
    COARSE = "coarse"
    """The uncertainty is over 1% of the energy."""
    MODELLED = "modelled"
    """An estimate, not a measurement."""
    SCRIPTED = "scripted"
    """A reference, noop or wrong solver: its energy says nothing about an agent."""

    @property
    def marks(self) -> bool:
        """Whether the flag makes the figure a ``~`` figure, which stays off the frontier."""
        return self not in {EnergyFlag.COARSE, EnergyFlag.MODULE_SCOPE}


def in_order(flags: set[EnergyFlag]) -> tuple[EnergyFlag, ...]:
    """Flags in their declared order, so that equal sets are equal bytes."""
    return tuple(flag for flag in EnergyFlag if flag in flags)


class Zone(Record):
    """One thing that a meter reads, and how its raw values are to be understood.

    A ``counter`` zone's raw values are microjoules; an ``integrated`` or ``modelled`` zone's are microwatts.
    """

    name: str
    kind: ZoneKind
    provenance: Provenance
    range_uj: Count | None = None
    """The value after which the counter starts at 0 again; None when unknown, and then no wrap can be booked."""
    unit_uj: Annotated[int, Field(ge=1)] = 1
    """The counter's resolution."""
    update_us: Annotated[int, Field(ge=1)] = 1000
    """How often the source refreshes its value."""
    window_us: Count = 0
    """How long the source averages over, 0 for a counter."""
    peak_uw: Annotated[int, Field(ge=1)] = 1_000_000_000
    """A power that the zone never exceeds: tells a wrap from a reset."""
    flags: tuple[EnergyFlag, ...] = ()


class ZoneEnergy(Record):
    """A zone's energy in one window."""

    zone: Zone
    counted: bool
    energy_uj: Count | None
    """None as soon as any part of the window is unknown."""
    at_least_uj: Count
    """What could be booked."""
    flags: tuple[EnergyFlag, ...] = ()


class IdleBaseline(Record):
    """The host's idle power over one zone set, or why there is none."""

    schema_version: int = 1
    host_fingerprint: Digest
    zone_set: str
    power_uw: Count | None
    sigma_uw: Count = 0
    """1.4826 x the median absolute deviation of the windows."""
    windows_uw: tuple[Signed, ...] = ()
    window_us: Count = 0
    busy_ppm: Count | None = None
    """The host's busy share while calibrating, in millionths; None when it cannot be read."""
    quick: bool
    measured_us: Count
    """When, in microseconds since the epoch."""
    update_us: dict[str, Count] = Field(default_factory=dict)
    """Each zone's median update period, as the self-test saw it."""
    zone_flags: dict[str, tuple[EnergyFlag, ...]] = Field(default_factory=dict)
    """What the self-test found against a zone."""
    flags: tuple[EnergyFlag, ...] = ()
    reason: str | None = None

    @model_validator(mode="after")
    def _says_why(self) -> Self:
        if (self.power_uw is None) != (self.reason is not None):
            raise ValueError("an idle power is a figure or has a reason, never both")
        return self


class EnergyRecord(Grown):
    """The energy of one bracket around a solver.

    Where other attempts ran in the same window, ``gross_uj``, ``idle_uj`` and ``active_uj`` are this one's share of the
    host's, by CPU time; the zones are the whole host's.
    """

    later = frozenset({"shared_out"})

    schema_version: int = 1
    meter: str
    scope: Literal["host_marginal"] = SCOPE
    zone_set: str
    provenance: Provenance
    """The weakest of the counted zones."""
    host_fingerprint: Digest
    started_us: Count
    """When the window opened, in microseconds since the epoch."""
    wall_us: Count
    zones: tuple[ZoneEnergy, ...]
    gross_uj: Signed | None
    """Everything that the counted zones drew; of a share, its active and idle parts, which can be under 0 together."""
    idle_uj: Count | None
    """What the idle host would have drawn in the same time."""
    active_uj: Signed | None
    """gross - idle, signed: the attempt's figure. The estimator gives it directly."""
    uncertainty_uj: Count | None
    """Of ``active_uj``, one standard uncertainty."""
    at_least_uj: Count
    """The gross energy of the parts that could be read: a bound, not a figure."""
    missing: dict[str, str] = Field(default_factory=dict)
    """For each figure above that is None, why."""
    idle: IdleBaseline
    estimator_watts: Decimals | None = None
    estimator_source: str | None = None
    flags: tuple[EnergyFlag, ...]
    reliable: bool
    """False prints as ``~`` and keeps the figure off the frontier; the verdict stays valid."""
    readings: BlobRef
    """The raw readings, hash-chained, one canonical JSON line each."""
    chain_head: Digest
    shared_out: bool = False
    """Whether the figures are this attempt's share of its window, by the CPU times in the readings."""

    @property
    def mark(self) -> str:
        """``~`` for a figure that is not reliable, else nothing."""
        return "" if self.reliable else "~"

    @property
    def marked_by(self) -> tuple[EnergyFlag, ...]:
        """The flags that made the figure unreliable."""
        return tuple(flag for flag in self.flags if flag.marks)

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        figures = {
            "gross_uj": self.gross_uj,
            "idle_uj": self.idle_uj,
            "active_uj": self.active_uj,
            "uncertainty_uj": self.uncertainty_uj,
        }
        if {name for name, value in figures.items() if value is None} != set(self.missing):
            raise ValueError("each missing figure has a reason, and no other")
        if self.reliable != (self.active_uj is not None and not self.marked_by):
            raise ValueError("`reliable` contradicts the flags")
        return self
