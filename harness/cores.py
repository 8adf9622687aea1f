"""Which cores an attempt is pinned to: the least used ones when it starts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harness.errors import GateError


class Cores:
    """The engine's cores, shared out among attempts. A core may serve several attempts; their count is kept level."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._load: Counter[int] = Counter(dict.fromkeys(ids, 0))
        self._lock = threading.Lock()

    @contextmanager
    def pinned(self, count: int) -> Iterator[str]:
        """Take *count* cores; the value is a cpuset such as ``0,2``.

        Raises:
            GateError: the engine has fewer cores than the task's limits name.
        """
        with self._lock:
            if count > len(self._load):
                raise GateError(
                    "limits.cpus",
                    f"the task names {count} cores, the engine has {len(self._load)}",
                    "use a larger host",
                )
            chosen = sorted(sorted(self._load, key=lambda core: (self._load[core], core))[:count])
            self._load.update(chosen)
        try:
            yield ",".join(map(str, chosen))
        finally:
            with self._lock:
                self._load.subtract(chosen)
