"""The three clocks of a measurement, read so that a suspended host shows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

_TIGHT_NS = 1_000_000
_TRIES = 5


def _boottime_ns() -> int:
    """Monotonic time with sleep included; without such a clock, plain monotonic time (a sleep then goes unseen)."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return time.monotonic_ns()


@dataclass(frozen=True)
class Clock:
    """Where time comes from. Tests drive it; hardware time is the one thing that they cannot make happen."""

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    boottime_ns: Callable[[], int] = _boottime_ns
    epoch_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], None] = time.sleep

    def now(self) -> tuple[int, int]:
        """Monotonic time and time slept since boot, both in nanoseconds.

        The two clocks can't be read at once; a reading torn apart by the scheduler would look like sleep, so it is
        taken again until it is tight.
        """
        monotonic, slept = 0, 0
        for _ in range(_TRIES):
            monotonic = self.monotonic_ns()
            slept = self.boottime_ns() - monotonic
            if self.monotonic_ns() - monotonic < _TIGHT_NS:
                break
        return monotonic, slept

    def epoch_us(self) -> int:
        """Microseconds since the epoch."""
        return self.epoch_ns() // 1000
