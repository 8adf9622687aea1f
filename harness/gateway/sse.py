"""Server-sent events out of a byte stream, however it is cut into chunks.

Format: the event stream of the HTML standard (lines end in LF, CR or CRLF; a blank line ends an event; a line that
starts with a colon is a comment; data lines are joined by LF). One thing is laxer: an event at the stream's end needs
no blank line after it, since a JSON value says itself where it ends.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_EVENT = 8 * 1024 * 1024
"""Bytes of one event that are held; the rest of a longer one passes by unread."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """The exact bytes of one event, blank line included. ``whole`` is False for a piece of one that is too long."""

    raw: bytes
    whole: bool


class Splitter:
    """Cuts a stream into frames; all frames joined are the stream, byte for byte."""

    def __init__(self, limit: int = MAX_EVENT) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._in_line = False
        self._after_cr = False
        self._too_long = False

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that this chunk completes. Takes time in proportion to the chunk."""
        frames: list[Frame] = []
        start = 0
        # A CR that ended the last chunk may be half of a CRLF: its LF ends no second line.
        line = 1 if self._after_cr and chunk.startswith(b"\n") else 0
        for end in _LINE_END.finditer(chunk, line):
            if end.start() == line and not self._in_line:
                frames.append(self._take(chunk[start : end.end()], ended=True))
                start = end.end()
            line = end.end()
            self._in_line = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        if line < len(chunk):
            self._in_line = True
        if start < len(chunk):
            self._held.append(chunk[start:])
            self._size += len(chunk) - start
        if self._size > self._limit:
            frames.append(self._take(b"", ended=False))
        return frames

    def close(self) -> list[Frame]:
        """What is left when the stream has ended."""
        return [self._take(b"", ended=True)] if self._held else []

    def _take(self, last: bytes, *, ended: bool) -> Frame:
        raw = b"".join([*self._held, last])
        whole = ended and not self._too_long and len(raw) <= self._limit
        self._too_long = not ended
        self._held, self._size = [], 0
        return Frame(raw, whole)


class Event(NamedTuple):
    """One event. ``data`` is None if it has no data line: a comment or a keep-alive."""

    name: str
    data: bytes | None


def parse(raw: bytes) -> Event:
    """The event that a frame holds."""
    name = ""
    data: list[bytes] = []
    for line in _LINE_END.split(raw.removeprefix(_BOM)):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return Event(name, b"\n".join(data) if data else None)
