"""How far a figure can be trusted: its uncertainty, and the window under which it says nothing.

``eps = 2 tau P + q`` bounds what the two ends of the window may miss: a source that refreshes every ``tau`` is off by
up to one refresh at each end, at the mean power ``P``, plus its resolution ``q``. With the idle power's spread
``sigma`` over ``n`` calibration windows, ``u = sqrt(eps^2 + (sigma T / sqrt n)^2)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.energy.records import EnergyFlag, Zone, ZoneEnergy

UPDATES_NEEDED = 20
"""A window must hold this many refreshes of the slowest source."""
UNCERTAINTIES_NEEDED = 3
"""An energy must be this many uncertainties away from nothing."""


def shortest_window_us(zones: Sequence[Zone]) -> int:
    """The shortest window that means anything: max(averaging window, 20 update periods) over the counted zones."""
    return max((max(zone.window_us, UPDATES_NEEDED * zone.update_us) for zone in zones if zone.kind.counted), default=0)


def uncertainty_uj(energies: Sequence[ZoneEnergy], wall_us: int, sigma_uw: int, windows: int) -> int:
    """One standard uncertainty of a window's active energy, in microjoules, rounded up.

    The ends of several zones are added, not squared: one window cuts them all at the same moment.
    """
    ends = sum(_ends_uj(energy, wall_us) for energy in energies if energy.counted)
    spread_squared = (sigma_uw * wall_us) ** 2 // (10**12 * max(windows, 1))
    squared = ends * ends + spread_squared
    root = math.isqrt(squared)
    return root if root * root == squared else root + 1


def _ends_uj(energy: ZoneEnergy, wall_us: int) -> int:
    zone = energy.zone
    tau = max(zone.update_us, zone.window_us)
    return 2 * tau * energy.at_least_uj // max(wall_us, 1) + zone.unit_uj


def floor_flags(active_uj: int, uncertainty: int, wall_us: int, zones: Sequence[Zone]) -> set[EnergyFlag]:
    """``short_window``, ``below_floor`` (under 3 u) or ``coarse`` (u over 1%)."""
    flags = set()
    if wall_us < shortest_window_us(zones):
        flags.add(EnergyFlag.SHORT_WINDOW)
    if active_uj < UNCERTAINTIES_NEEDED * uncertainty:
        flags.add(EnergyFlag.BELOW_FLOOR)
    elif uncertainty * 100 > active_uj:
        flags.add(EnergyFlag.COARSE)
    return flags
