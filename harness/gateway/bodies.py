"""Bodies on their way to the store: on disk while they are large, redacted as they are kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

from harness.gateway.deltas import MAX_BODY, Deltas
from harness.gateway.redact import Redactor
from harness.records import BlobRef
from harness.store import LocalStore

IN_MEMORY = 256 * 1024
PIECE = 256 * 1024
MAX_KEPT = 64 * 1024 * 1024
"""Bytes kept of one answer; the rest of a longer one passes and is not kept."""
MAX_ATTEMPT = 2 * 1024 * 1024 * 1024
"""Bytes kept of one attempt, so that no solver fills the host's disk through its gateway."""


class Spool:
    """Bytes that are collected while they pass: in memory while they are few."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._file: IO[bytes] | None = None
        self.size = 0
        self.cut = False

    def add(self, chunk: bytes) -> None:
        """Take the next bytes, as far as there is room."""
        room = MAX_KEPT - self.size
        if len(chunk) > room:
            self.cut = True
            chunk = chunk[:room]
        self.size += len(chunk)
        if self._file is None and self.size > IN_MEMORY:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by whoever keeps it
            self._file.writelines(self._held)
            self._held.clear()
        if self._file is None:
            self._held.append(chunk)
        else:
            self._file.write(chunk)

    def whole(self) -> bytes:
        """All of it."""
        if self._file is None:
            return b"".join(self._held)
        self._file.seek(0)
        return self._file.read()

    def pieces(self) -> Iterator[bytes]:
        """All of it, piece by piece."""
        if self._file is None:
            yield from self._held
            return
        self._file.seek(0)
        while piece := self._file.read(PIECE):
            yield piece

    def close(self) -> None:
        """Let it go."""
        self._held.clear()
        if self._file is not None:
            self._file.close()


def keep(store: LocalStore, spool: Spool, redactor: Redactor, media_type: str, deltas: Deltas | None = None) -> BlobRef:
    """Put a body into the store, without its secrets, and let its spool go; with *deltas* as one, if that is smaller.

    Raises:
        StorageError: the disk refuses.
    """
    try:
        if deltas is not None and spool.size <= MAX_BODY:
            return deltas.keep(redactor.whole(spool.whole()), media_type)
        if spool.size <= IN_MEMORY:
            return store.put(redactor.whole(spool.whole()), media_type)
        return store.put_stream(_redacted(spool, redactor.fresh()), media_type)
    finally:
        spool.close()


def _redacted(spool: Spool, redactor: Redactor) -> Iterator[bytes]:
    for piece in spool.pieces():
        yield redactor.feed(piece)
    yield redactor.close()
