"""A circuit breaker: an upstream that fails again and again is left alone for a while.

It counts what is no single request's fault: an upstream that can't be reached, answers 5xx, says nothing, or whose
account is spent. Rate limits are for the clients' own retries, and a cut or malformed answer is for nobody's.

What a request asks for may bring about some of these all the same. So each attempt has a circuit of its own, and the
one that all attempts of a run share opens only by faults of at least two of them, of which none brings in more than
half of what it takes. The shared one closes by any attempt's success, an attempt's own by its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.gateway.records import Fault

COUNTED = frozenset({Fault.CONNECTION, Fault.SERVER_ERROR, Fault.TIMEOUT, Fault.STATUS_402})
LONGEST_MS = 120_000
"""A pause doubles each time that the upstream fails at once after one; never beyond this."""

Clock = Callable[[], int]


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


class Circuit:
    """Open or not, until when, and who may try after that.

    Args:
        pause_ms: how long it stays open at first.
        clock: milliseconds that only go forward.
    """

    def __init__(self, pause_ms: int, clock: Clock) -> None:
        self._first_pause = pause_ms
        self._pause = pause_ms
        self._clock = clock
        self._until: int | None = None

    @property
    def open(self) -> bool:
        """Whether it is open, or was and nobody has succeeded since."""
        return self._until is not None

    @property
    def wait_ms(self) -> int:
        """How long until it is worth asking again."""
        return 0 if self._until is None else max(0, self._until - self._clock())

    def trip(self) -> None:
        """Open it; the second time in a row for twice as long."""
        if self._until is not None:
            self._pause = min(LONGEST_MS, self._pause * 2)
        self._until = self._clock() + self._pause

    def close(self) -> None:
        """The upstream answers."""
        self._until, self._pause = None, self._first_pause


class _Attempt:
    """What the breaker knows of one attempt."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.in_a_row = 0
        self.probing = False


class Breaker:
    """One upstream's.

    Args:
        faults: how many in a row open a circuit: of one attempt its own, of several the shared one.
        pause_ms: how long it then stays open.
    """

    def __init__(self, faults: int, pause_ms: int, clock: Clock = _milliseconds) -> None:
        self._limit = faults
        self._share = -(-faults // 2)
        self._pause_ms = pause_ms
        self._clock = clock
        self._shared = Circuit(pause_ms, clock)
        self._attempts: dict[str, _Attempt] = {}
        self._row: dict[str, int] = {}
        """Counted faults by attempt, since the last success of any."""
        self._failed_probes: set[str] = set()

    def admits(self, who: str) -> bool:
        """Whether a request of an attempt may go out. After a pause one of each may, until its end is reported."""
        attempt = self._attempt(who)
        if not (self._shared.open or attempt.circuit.open):
            return True
        if attempt.probing or self.wait_ms(who):
            return False
        attempt.probing = True
        return True

    def wait_ms(self, who: str) -> int:
        """How long until it is worth asking again for an attempt."""
        return max(self._shared.wait_ms, self._attempt(who).circuit.wait_ms)

    def withdrawn(self, who: str) -> None:
        """Report that an admitted request ended without a word on the upstream."""
        self._attempt(who).probing = False

    def ended(self, who: str, fault: Fault | None) -> None:
        """Report how an admitted request ended."""
        attempt = self._attempt(who)
        probed, attempt.probing = attempt.probing, False
        if fault not in COUNTED:
            attempt.in_a_row = 0
            attempt.circuit.close()
            self._shared.close()
            self._row.clear()
            self._failed_probes.clear()
            return
        attempt.in_a_row += 1
        if attempt.in_a_row >= self._limit or (probed and attempt.circuit.open):
            attempt.circuit.trip()
        self._row[who] = self._row.get(who, 0) + 1
        if self._shared.open:
            self._again(who, probed)
        elif len(self._row) > 1 and sum(min(count, self._share) for count in self._row.values()) >= self._limit:
            self._shared.trip()

    def forget(self, who: str) -> None:
        """An attempt is over. What it met still counts."""
        self._attempts.pop(who, None)

    def _again(self, who: str, probed: bool) -> None:
        """A fault after the pause: of a second attempt it opens the shared circuit anew, of one its own alone."""
        if not probed or self._shared.wait_ms:
            return
        self._failed_probes.add(who)
        if len(self._failed_probes) > 1:
            self._failed_probes.clear()
            self._shared.trip()
        elif not self._attempt(who).circuit.open:
            self._attempt(who).circuit.trip()

    def _attempt(self, who: str) -> _Attempt:
        found = self._attempts.get(who)
        if found is None:
            found = self._attempts[who] = _Attempt(Circuit(self._pause_ms, self._clock))
        return found
