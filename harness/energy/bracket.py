"""The energy bracket around one solver, and the session whose brackets share a meter.

The meter is read when a bracket opens and when one closes, for all that are open then; a thread reads in between, often
enough that no counter can wrap twice. The last to close wakes the thread, so a solver of a few milliseconds pays for
two readings.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from harness.energy.account import Window, account
from harness.energy.booking import sample_period_us
from harness.energy.clock import Clock
from harness.energy.idle import STAT, busy_ticks
from harness.energy.meter import Meter, Values, counted, modelled_only
from harness.energy.readings import ReadingLog, Used, blob_ref
from harness.energy.records import EnergyRecord, IdleBaseline
from harness.energy.selftest import tuned

_TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """What a bracket gives: the record, and the raw readings for the store (``record.readings`` is their reference)."""

    record: EnergyRecord
    readings: bytes


class Session:
    """One meter and its idle power, for all attempts of a run in this process.

    Brackets of one session know of each other and are read at the same moments: where two overlap, both records are
    flagged ``shared``, and the host's energy is shared out by the CPU time of their attempts, if that can be read.

    Args:
        stat: the host's processor times, as proc_stat(5) has them.
    """

    def __init__(self, meter: Meter, idle: IdleBaseline, clock: Clock | None = None, stat: Path = STAT) -> None:
        self.meter = meter
        self.idle = idle
        self.clock = clock or Clock()
        self.zones = tuned(meter.zones(), idle.update_us, idle.zone_flags)
        self._stat = stat
        self._counts = bool(counted(self.zones)) and not modelled_only(self.zones)
        self._lock = threading.Lock()
        self._open: dict[Bracket, int | None] = {}
        """The open ones, each with its attempt's CPU time at the last reading."""
        self._attempts_us = 0
        """CPU time of all attempts together, as far as it was seen."""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def bracket(self, *, scripted: bool = False, cpu_us: Callable[[], int | None] | None = None) -> Bracket:
        """A bracket, not yet open.

        Args:
            scripted: the solver is ``reference``, ``noop`` or ``wrong``; its figure is always marked ``~``.
            cpu_us: tells the CPU time of the attempt's cgroup, None where it can't.
        """
        return Bracket(self, scripted=scripted, cpu_us=cpu_us)

    def enter(self, bracket: Bracket) -> None:
        """Open a bracket with a reading, which is one of every open bracket."""
        with self._lock:
            self._sample(bracket)
            if len(self._open) > 1:
                for each in self._open:
                    each.shared = True
            if len(self._open) == 1:
                self._ended = threading.Event()
                self._thread = threading.Thread(
                    target=self._keep_sampling, args=(self._ended,), name="trialbox-energy", daemon=True
                )
                self._thread.start()

    def leave(self, bracket: Bracket) -> None:
        """Close a bracket with a reading."""
        with self._lock:
            self._sample()
            del self._open[bracket]
            thread = None if self._open else self._thread
            if thread is not None:
                self._ended.set()
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Let go of the meter."""
        self.meter.close()

    def _sample(self, opening: Bracket | None = None) -> None:
        """One reading for all open brackets and the one that opens with it; the lock is held."""
        at = self.clock.now()
        values = self.meter.read()
        present = len(self._open)
        everyone = [*self._open, *([opening] if opening else [])]
        if not self._counts or all(each.cpu_us is None for each in everyone):
            self._open |= dict.fromkeys(everyone)
            for each in everyone:
                each.note(at, values, None)
            return
        now = {each: None if each.cpu_us is None else each.cpu_us() for each in everyone}
        ticks = busy_ticks(self._stat)
        host = None if ticks is None else ticks[0] * _TICK_US
        for each, before in self._open.items():
            after = now[each]
            self._attempts_us += 0 if before is None or after is None else max(0, after - before)
        self._open |= now
        for each, own in now.items():
            each.note(at, values, Used(own, self._attempts_us, host, present))

    def _keep_sampling(self, ended: threading.Event) -> None:
        period_s = sample_period_us(self.zones) / 1_000_000
        while not ended.wait(period_s):
            with self._lock:
                self._sample()


class Bracket:
    """Energy between :meth:`start` and :meth:`stop`. As a context manager it stops itself; ``stop()`` then tells."""

    def __init__(
        self, session: Session, *, scripted: bool = False, cpu_us: Callable[[], int | None] | None = None
    ) -> None:
        self.shared = False
        self.cpu_us = cpu_us
        self._measured: Measured | None = None
        self._session = session
        self._scripted = scripted
        self._log = ReadingLog()
        self._origin: tuple[int, int] | None = None
        self._started_us = 0

    def start(self) -> None:
        """Open the window: the first reading, which books nothing."""
        self._started_us = self._session.clock.epoch_us()
        self._session.enter(self)

    def note(self, at: tuple[int, int], values: Values, used: Used | None) -> None:
        """One more reading, taken at this monotonic time with so much sleep since boot."""
        if self._origin is None:
            self._origin = at
        self._log.append((at[0] - self._origin[0]) // 1000, (at[1] - self._origin[1]) // 1000, values, used)

    def stop(self) -> Measured:
        """Close the window and book it. A second call gives the same result."""
        if self._measured is not None:
            return self._measured
        if self._origin is None:
            raise RuntimeError("an energy bracket was stopped before it was started")
        session = self._session
        session.leave(self)
        data = self._log.dump()
        readings = self._log.readings
        record = account(
            Window(
                meter=session.meter.describe(),
                zones=session.zones,
                readings=readings,
                blob=blob_ref(data),
                head=self._log.head,
                started_us=self._started_us,
                idle=session.idle,
                scripted=self._scripted,
                shared=self.shared,
                shared_out=self.shared and readings[0].attempts_cpu_us is not None,
            )
        )
        self._measured = Measured(record, data)
        return self._measured

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
