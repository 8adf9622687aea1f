"""The web trace of one attempt, line by line as exchanges end, and what it amounts to.

Lines go to a file beside the attempt's folder, never into it, and into the store when the attempt is closed: memory
does not grow with their number, and a gateway that dies leaves them.
"""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

from harness.digest import sha256_bytes
from harness.gateway.records import UNSEEN, AttemptTraffic, Fault, Provided, Sinkhole, TraceLine, Usage
from harness.gateway.redact import Redactor
from harness.gateway.usage import identity, total, used
from harness.gateway.wire import match
from harness.records import to_json

MAX_LINES = 20_000
"""Beyond them requests are refused without a line, and the trace is not whole."""
_MAX_FAULTS = 1_000
_MAX_NAMES = 1_000


class Trace:
    """Writes the chain and keeps the sums; safe to share between threads."""

    def __init__(self, path: Path, redactor: Redactor) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)
        self._redactor = redactor
        self._lock = threading.Lock()
        self._lines = 0
        self._last: str | None = None
        self._requests = self._denied = self._retries = 0
        self._stripped: Counter[Provided] = Counter()
        self._usages: dict[str, Usage] = {}
        self._requested: dict[str, None] = {}
        self._served: dict[str, None] = {}
        self._efforts: dict[str, None] = {}
        self._faults: list[Fault] = []
        self._outlasting: Fault | None = None
        self._budget_refused = False
        self._quota: dict[str, str] = {}
        self.sinkhole = Sinkhole()

    @property
    def full(self) -> bool:
        """Whether there is no room for another line."""
        return self._lines >= MAX_LINES

    def write(self, line: TraceLine, *, retry: bool = False) -> None:
        """Append a line, whose ``seq`` and ``prev`` are filled in here."""
        with self._lock:
            placed = line.model_copy(update={"seq": self._lines, "prev": self._last})
            raw = self._redactor.whole(to_json(placed))
            self._file.write(raw + b"\n")
            self._lines += 1
            self._last = sha256_bytes(raw)
            self._add(placed, retry)

    def keep_quota(self, headers: dict[str, str]) -> None:
        """Take an answer's quota headers; of each the last value counts."""
        self._quota |= headers

    def short(self) -> AttemptTraffic:
        """What it amounts to so far."""
        return AttemptTraffic(
            requests=self._requests,
            denied=self._denied,
            stripped=dict(self._stripped),
            retries=self._retries,
            usage=total(self._usages.items()),
            requested_models=tuple(self._requested),
            served_models=tuple(self._served),
            efforts=tuple(self._efforts),
            last_line=self._last,
            faults=tuple(self._faults),
            outlasting=self._outlasting,
            budget_refused=self._budget_refused,
            quota=self._quota,
            sinkhole=self.sinkhole,
        )

    def close(self) -> None:
        """No more lines."""
        self._file.close()

    def _add(self, line: TraceLine, retry: bool) -> None:
        self._stripped.update(one.kind for one in line.stripped)
        if line.denial is not None:
            self._denied += line.denial.rule != SINKHOLE
            self._budget_refused |= line.denial.rule == "budget"
            return
        endpoint = match(line.method, line.path)
        if endpoint is None or not endpoint.billed:
            return
        self._requests += 1
        self._retries += retry
        self._name(line)
        self._outlasting = None if UNSEEN in line.notes else line.fault
        if line.fault is not None and len(self._faults) < _MAX_FAULTS:
            self._faults.append(line.fault)
        usage = used(line)
        if usage is not None:
            # A later answer of the same id takes the place of the earlier one, and its place in the order.
            name = identity(line)
            self._usages.pop(name, None)
            self._usages[name] = usage

    def _name(self, line: TraceLine) -> None:
        asked = line.request
        for names, name in (
            (self._requested, asked and asked.model),
            (self._efforts, asked and asked.effort),
            (self._served, line.answer and line.answer.model),
        ):
            if name and len(names) < _MAX_NAMES:
                names[name] = None


SINKHOLE = "sinkhole"
"""The rule of lines that the sinkhole tells: nothing was asked of the gateway."""
