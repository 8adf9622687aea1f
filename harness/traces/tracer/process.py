"""Who a process is at the time of an event: its name, and whether it is of the attempt's cgroup."""

from __future__ import annotations

import time

from harness.traces.tracer.kernel import words

_FRESH_NS = 20_000_000
"""How long an answer holds; no pid is used again that soon."""


class Processes:
    """Asks ``/proc``, at most once in a while for each process.

    Args:
        marker: what the path of the attempt's cgroup holds: the container's id.
    """

    def __init__(self, marker: str) -> None:
        self._marker = marker.encode()
        self._known: dict[int, tuple[str | None, bool]] = {}
        self._until = 0

    def who(self, pid: int, now_ns: int) -> tuple[str | None, bool]:
        """The name, None if it has ended, and whether it is inside; one that has ended was."""
        if now_ns > self._until:
            self._known.clear()
            self._until = now_ns + _FRESH_NS
        known = self._known.get(pid)
        if known is None:
            known = self._known[pid] = self._ask(pid)
        return known

    def holds(self, pid: int) -> bool:
        """Whether a process runs, and inside."""
        name, inside = self._ask(pid)
        return inside and name is not None

    def forget(self, pid: int) -> None:
        """It is becoming another program."""
        self._known.pop(pid, None)

    def _ask(self, pid: int) -> tuple[str | None, bool]:
        try:
            inside = self._marker in words(f"/proc/{pid}/cgroup")
            return words(f"/proc/{pid}/comm").rstrip(b"\n").decode("utf-8", "backslashreplace"), inside
        except OSError:
            return None, True


def now_us() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000
