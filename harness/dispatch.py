"""What a sweep must know before it dispatches an attempt to a model: may it, is there money, and is its provider up.

One for a run, shared by its threads. A solver whose key or model turned out to be wrong is dispatched no more, a
provider whose circuit is open is left alone for its pause, and at the daily cap attempts under way end and no other
begins.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from harness.evidence import AttemptRecord
from harness.gateway.access import Access
from harness.gateway.records import Fault
from harness.outcomes import Outcome
from harness.records import Cell
from harness.spend import Spender
from harness.spend_book import CapReached, Purpose, Spent, exactly

PAUSE_S = 30.0
"""How long a provider is left alone once the gateway has stopped asking it."""


@dataclass(frozen=True)
class Reach:
    """How a solver gets to its model in this run.

    ``access`` is what each attempt may do, ``worker`` what its costs are remembered by, ``hold`` the picodollars set
    aside for an attempt (None where nothing is paid by the token).
    """

    access: Access
    worker: str
    hold: int | None = None


def free(_: AttemptRecord) -> Spent:
    """The cost where nobody pays."""
    return exactly(0)


class Dispatch:
    """The gate of one sweep.

    Args:
        reaches: by solver, for those that need a model.
        spender: sets money aside; None where nothing is paid.
        cost: what an attempt cost by the gateway's meter.
        unavailable: solvers that can't be dispatched at all, and why.
        reached: solvers that a model has answered before, in an earlier process of this run.
        pause_s: how long an open circuit is waited out.
        patience_s: seconds before the second try of an attempt that a provider failed; twice as many before the third.
    """

    def __init__(
        self,
        reaches: Mapping[str, Reach] | None = None,
        spender: Spender | None = None,
        cost: Callable[[AttemptRecord], Spent] = free,
        *,
        unavailable: Mapping[str, str] | None = None,
        reached: Collection[str] = (),
        pause_s: float = PAUSE_S,
        patience_s: float = 0.0,
    ) -> None:
        self.reaches = dict(reaches or {})
        self.capped: CapReached | None = None
        """Why no further attempt that costs money begins, if so."""
        self._spender = spender
        self._cost = cost
        self._pause_s = pause_s
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._reached = set(reached)
        self._gone = dict(unavailable or {})
        self._not_before: dict[str, float] = {}

    def gone(self, solver: str) -> str:
        """Why a solver can't be dispatched; empty if it can."""
        with self._lock:
            return self._gone.get(solver, "")

    def reached(self, solver: str) -> bool:
        """Whether a model has answered this solver in this run."""
        with self._lock:
            return solver in self._reached

    def wait(self, solver: str, failures: int, stop: threading.Event) -> None:
        """Until the solver's provider may be asked again, or *stop* is set."""
        reach = self.reaches.get(solver)
        if reach is None:
            return
        if failures:
            stop.wait(self._patience_s * failures)
        while not stop.is_set():
            with self._lock:
                left = self._not_before.get(reach.access.upstream.name, 0.0) - time.monotonic()
            if left <= 0:
                return
            stop.wait(left)

    def reserve(self, cell: Cell, what: str, stop: threading.Event) -> int | None:
        """Money for one attempt; None where it costs none.

        Raises:
            CapReached: there is none left for today.
        """
        reach = self.reaches.get(cell.solver)
        if reach is None or reach.hold is None or self._spender is None:
            return None
        if self.capped is not None:
            raise self.capped
        try:
            return self._spender.reserve(Purpose.ATTEMPT, reach.worker, what, reach.hold, stop)
        except CapReached as full:
            if not stop.is_set():
                self.capped = full
            raise

    def settle(self, reservation: int | None, record: AttemptRecord) -> Spent | None:
        """Book what an attempt that has ended cost; None where nothing was set aside for it."""
        if reservation is None or self._spender is None:
            return None
        spent = self._cost(record)
        self._spender.settle(reservation, spent)
        return spent

    def abandon(self, reservation: int | None) -> None:
        """An attempt died under us: what was set aside for it stays charged."""
        if reservation is not None and self._spender is not None:
            self._spender.abandon()

    def learn(self, record: AttemptRecord) -> None:
        """What an ended attempt says of its solver and its provider."""
        reach, traffic = self.reaches.get(record.cell.solver), record.traffic
        if reach is None or traffic is None:
            return
        with self._lock:
            if traffic.served_models or traffic.usage.stated:
                self._reached.add(record.cell.solver)
            if record.outcome is Outcome.UNAVAILABLE:
                self._gone.setdefault(record.cell.solver, f"in an earlier attempt: {record.reason}")
            if Fault.CIRCUIT_OPEN in traffic.faults:
                self._not_before[reach.access.upstream.name] = time.monotonic() + self._pause_s
