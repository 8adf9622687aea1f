"""The energy bracket around one solver, and the session whose brackets share a meter.

A bracket reads the meter when it opens and when it closes; a thread reads in between, often enough that no counter can
wrap twice. Closing wakes the thread instead of waiting for it, so a solver of a few milliseconds pays for two readings.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import NamedTuple, Self

from harness.energy.account import Window, account
from harness.energy.booking import sample_period_us
from harness.energy.clock import Clock
from harness.energy.meter import Meter
from harness.energy.readings import ReadingLog, blob_ref
from harness.energy.records import EnergyRecord, IdleBaseline
from harness.energy.selftest import tuned


class Measured(NamedTuple):
    """What a bracket gives: the record, and the raw readings for the store (``record.readings`` is their reference)."""

    record: EnergyRecord
    readings: bytes


class Session:
    """One meter and its idle power, for all attempts of a run in this process.

    Brackets of one session know of each other: where two overlap, the host's energy belongs to neither alone, and both
    records are flagged ``shared``.
    """

    def __init__(self, meter: Meter, idle: IdleBaseline, clock: Clock | None = None) -> None:
        self.meter = meter
        self.idle = idle
        self.clock = clock or Clock()
        self.zones = tuned(meter.zones(), idle.update_us, idle.zone_flags)
        self._lock = threading.Lock()
        self._open: set[Bracket] = set()

    def bracket(self, *, scripted: bool = False) -> Bracket:
        """A bracket, not yet open.

        Args:
            scripted: the solver is ``reference``, ``noop`` or ``wrong``; its figure is always marked ``~``.
        """
        return Bracket(self, scripted=scripted)

    def enter(self, bracket: Bracket) -> None:
        """Note an opening bracket, and mark every overlap."""
        with self._lock:
            self._open.add(bracket)
            if len(self._open) > 1:
                for each in self._open:
                    each.shared = True

    def leave(self, bracket: Bracket) -> None:
        """Note a closed bracket."""
        with self._lock:
            self._open.discard(bracket)

    def close(self) -> None:
        """Let go of the meter."""
        self.meter.close()


class Bracket:
    """Energy between :meth:`start` and :meth:`stop`. As a context manager it stops itself; ``stop()`` then tells."""

    def __init__(self, session: Session, *, scripted: bool = False) -> None:
        self.shared = False
        self._measured: Measured | None = None
        self._session = session
        self._scripted = scripted
        self._log = ReadingLog()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._origin = (0, 0)
        self._started_us = 0

    def start(self) -> None:
        """Open the window: the first reading, which books nothing."""
        session = self._session
        session.enter(self)
        self._started_us = session.clock.epoch_us()
        self._origin = session.clock.now()
        self._sample()
        self._thread = threading.Thread(target=self._keep_sampling, name="trialbox-energy", daemon=True)
        self._thread.start()

    def stop(self) -> Measured:
        """Close the window and book it. A second call gives the same result."""
        if self._measured is not None:
            return self._measured
        if self._thread is None:
            raise RuntimeError("an energy bracket was stopped before it was started")
        self._stop.set()
        self._thread.join()
        self._sample()
        session = self._session
        session.leave(self)
        data = self._log.dump()
        record = account(
            Window(
                meter=session.meter.describe(),
                zones=session.zones,
                readings=self._log.readings,
                blob=blob_ref(data),
                head=self._log.head,
                started_us=self._started_us,
                idle=session.idle,
                scripted=self._scripted,
                shared=self.shared,
            )
        )
        self._measured = Measured(record, data)
        return self._measured

    def _sample(self) -> None:
        monotonic, slept = self._session.clock.now()
        self._log.append(
            (monotonic - self._origin[0]) // 1000,
            (slept - self._origin[1]) // 1000,
            self._session.meter.read(),
        )

    def _keep_sampling(self) -> None:
        period_s = sample_period_us(self._session.zones) / 1_000_000
        while not self._stop.wait(period_s):
            self._sample()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
