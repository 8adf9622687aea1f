"""Which cores an attempt is pinned to: the least used ones when it starts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from harness.errors import GateError


def spelled(cores: Sequence[int]) -> str:
    """A cpuset in the one spelling in which the kernel gives it back: ascending, neighbours as a range."""
    runs = [list(run) for _, run in groupby(enumerate(sorted(cores)), lambda item: item[1] - item[0])]
    return ",".join(str(run[0][1]) if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs)


class Cores:
    """The engine's cores, shared out among attempts. A core may serve several attempts; their count is kept level."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._load: Counter[int] = Counter(dict.fromkeys(ids, 0))
        self._lock = threading.Lock()

    def require(self, count: int) -> None:
        """Check that an attempt may have so many.

        Raises:
            GateError: the engine has fewer cores than the task's limits name.
        """
        if count > len(self._load):
            problem = f"the task names {count} cores, the engine has {len(self._load)}"
            raise GateError("limits.cpus", problem, "use a larger host")

    @contextmanager
    def pinned(self, count: int) -> Iterator[str]:
        """Take *count* cores; the value is a cpuset as the kernel spells it, such as ``0-1,3``.

        Raises:
            GateError: see :meth:`require`.
        """
        self.require(count)
        with self._lock:
            chosen = sorted(sorted(self._load, key=lambda core: (self._load[core], core))[:count])
            self._load.update(chosen)
        try:
            yield spelled(chosen)
        finally:
            with self._lock:
                self._load.subtract(chosen)
