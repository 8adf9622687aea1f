"""From an answer's bytes to JSON values, within bounds that no provider and no solver can push.

What is over a bound isn't held: the answer still passes to the client, and its usage is ``usage_incomplete``.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

MAX_DECODED = 64 * 1024 * 1024
"""Bytes of one answer, decompressed, that are looked at: a stream of a million tokens is a tenth of it."""
MAX_VALUES = 250_000
"""Commas and opening brackets of one JSON text, those in its strings aside: ten times a busy request, and some 50 MB
as objects."""
PIECE = 64 * 1024
MAX_TEXT = 200
"""Characters kept of a name, an id or an error code."""

_GZIP = 16 + zlib.MAX_WBITS
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


class Decoder:
    """Takes off the content coding, in pieces of at most 64 KiB.

    ``trouble`` is why reading stopped: an unknown coding, damaged data, or more than ``limit`` bytes.
    """

    def __init__(self, coding: str = "", limit: int = MAX_DECODED) -> None:
        self.trouble = ""
        self._left = limit
        self._limit = limit
        self._inflate: zlib._Decompress | None = None
        match coding.strip().lower():
            case "" | "identity":
                pass
            case "gzip" | "x-gzip":
                self._inflate = zlib.decompressobj(_GZIP)
            case other:
                self.trouble = f"its content coding {text(other)} is not read"

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The decoded bytes of a chunk."""
        for piece in self._pieces(chunk):
            if len(piece) > self._left:
                self.trouble = f"it is over {self._limit >> 20} MiB"
                return
            self._left -= len(piece)
            if piece:
                yield piece

    def _pieces(self, chunk: bytes) -> Iterator[bytes]:
        if self.trouble:
            return
        if self._inflate is None:
            yield chunk
            return
        more = bool(chunk)
        while more and not self.trouble:
            if self._inflate.eof:
                # Another gzip member: they may be strung together.
                self._inflate = zlib.decompressobj(_GZIP)
            try:
                piece = self._inflate.decompress(chunk, PIECE)
            except zlib.error:
                self.trouble = "its gzip is damaged"
                return
            yield piece
            chunk = self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail
            # A full piece may leave output behind although all input is taken.
            more = bool(chunk) or (len(piece) == PIECE and not self._inflate.eof)


def json_value(data: bytes) -> Any:
    """The value of a provider's JSON text.

    Raises:
        ValueError: it is not JSON in UTF-8, or too large or too deep to hold.
    """
    return json.loads(bounded_text(data))


def bounded_text(data: bytes) -> str:
    """The text of bytes that are about to be parsed.

    Raises:
        ValueError: it is not UTF-8, or has more values than are worth holding.
    """
    # Code in a prompt is full of commas: strings are set aside, where there are many at all.
    if _values(data) > MAX_VALUES and _values(_STRING.sub(b"", data)) > MAX_VALUES:
        raise ValueError(f"has more than {MAX_VALUES} values")
    return data.decode("utf-8")


def _values(data: bytes) -> int:
    return sum(map(data.count, (b",", b"[", b"{")))


def text(value: object) -> str | None:
    """A short text as it can be written down: None if it isn't one, clipped if long, without lone surrogates."""
    if not isinstance(value, str) or not value:
        return None
    return value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
