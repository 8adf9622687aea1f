"""Events summed by what they say, within a bound, and written out as a chain of lines."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.traces.text import text_of

MAX_ROWS = 300_000
MAX_BYTES = 64 << 20
"""Of names: with the rows, what a solver that opens everything can make the tracer keep (some 200 MB at most)."""

Row = list[Any]
"""``[count, first_us, last_us, pid, command]``, the last two of the first event."""


class Table:
    """Sums of one channel. Not for several threads."""

    def __init__(self, rows: int = MAX_ROWS, size: int = MAX_BYTES) -> None:
        self.rows: dict[tuple[Any, ...], Row] = {}
        self.events = 0
        self.lost: Counter[str] = Counter()
        """How often events were lost, by the reason; with any, the trace is not whole."""
        self.markers: list[tuple[str, int]] = []
        self._left = rows
        self._room = size

    def new(self, key: tuple[Any, ...], size: int, row: Row) -> None:
        """A row that is not there yet; past the bound it is not kept, and that is counted."""
        if self._left and size <= self._room:
            self._left -= 1
            self._room -= size
            self.rows[key] = row
        else:
            self.lost["more distinct events than are kept"] += 1

    def take(self, other: Table) -> None:
        """Add what another has seen of other paths."""
        self.rows |= other.rows
        self.events += other.events
        self.lost += other.lost
        self.markers += other.markers


class Chain:
    """Lines of JSON, each with its number and the digest of the line before (``harness/traces/records.py``)."""

    def __init__(self) -> None:
        self._seq = 0
        self._prev: str | None = None

    def line(self, **fields: Any) -> bytes:
        """The next line, in the form that :func:`harness.digest.canonical` gives, which is not to be had here."""
        record = {"seq": self._seq, "prev": self._prev, **fields}
        raw = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
        self._seq += 1
        self._prev = "sha256:" + hashlib.sha256(raw).hexdigest()
        return raw + b"\n"


def lines(table: Table, kind: str, names: tuple[str, ...]) -> Iterator[bytes]:
    """A table as a trace: markers, rows by their first event, what was lost, and the end.

    Args:
        table: what was seen.
        kind: the kind of its rows' lines.
        names: the fields that a row's key holds.
    """
    chain = Chain()
    for path, at_us in table.markers:
        yield chain.line(kind="marker", path=path, at_us=at_us)
    for key, (count, first_us, last_us, pid, command) in sorted(table.rows.items(), key=lambda item: item[1][1]):
        yield chain.line(
            kind=kind,
            count=count,
            first_us=first_us,
            last_us=last_us,
            pid=pid,
            command=command,
            **{name: text_of(part) if isinstance(part, bytes) else part for name, part in zip(names, key, strict=True)},
        )
    now = time.time_ns() // 1000
    for reason, count in sorted(table.lost.items()):
        yield chain.line(kind="overflow", count=count, reason=reason, at_us=now)
    yield chain.line(kind="end", events=table.events, overflows=table.lost.total())
