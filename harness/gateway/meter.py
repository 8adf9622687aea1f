"""Reads the usage off an answer while it passes: streamed or whole, compressed or not, cut anywhere.

A meter never raises on what it is fed and holds no more than one event, or one body of at most 8 MiB.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from harness.gateway.decode import Decoder, json_value, text
from harness.gateway.records import Metered, Usage
from harness.gateway.sse import MAX_EVENT, Frame, Splitter, parse
from harness.gateway.usage import cut, member, unavailable

MAX_BODY = MAX_EVENT
NO_USAGE = "the answer states no usage"


class Reading(ABC):
    """What one answer has said so far, in one wire format."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.request_id: str | None = None
        self.finish: str | None = None
        self.refused = False
        self.error: str | None = None
        self.ended = False
        """The answer has said its last word."""
        self.raw: dict[str, Any] = {}
        """The usage as the provider words it."""

    @abstractmethod
    def event(self, value: Mapping[str, Any]) -> None:
        """One event of a stream."""

    def body(self, value: Mapping[str, Any]) -> None:
        """A whole answer that was not streamed."""
        self.event(value)
        self.ended = True

    def done(self) -> None:  # noqa: B027 (most formats have no such event, and need nothing here)
        """The ``[DONE]`` that ends OpenAI's streams."""

    @abstractmethod
    def usage(self, incomplete: str) -> Usage:
        """The buckets of ``raw``; ``incomplete`` says why they are not final."""

    def take_error(self, value: Mapping[str, Any]) -> None:
        """Keep an error's code, never its message, which may quote a key."""
        inner = value.get("error")
        if isinstance(inner, Mapping):
            names = (text(inner.get(name)) for name in ("status", "type", "code"))
            self.error = next((name for name in names if name), "unnamed error")
        elif inner:
            self.error = "unnamed error"


class Meter:
    """Feeds one answer to a reading. ``coding`` is the answer's Content-Encoding."""

    def __init__(self, reading: Reading, coding: str = "") -> None:
        self._reading = reading
        self._decoder = Decoder(coding)
        self._splitter: Splitter | None = None
        self._body: bytearray | None = None
        self._trouble = ""
        self.malformed = False
        """Something in it is not JSON where JSON was to be."""

    def feed(self, chunk: bytes) -> None:
        """The next bytes, as they came from the provider."""
        for piece in self._decoder.feed(chunk):
            self._take(piece)

    def close(self) -> Metered:
        """What the answer said. Call it once, also when the answer was cut."""
        if self._splitter is not None:
            self._frames(self._splitter.close())
        elif self._body is not None:
            self._whole(bytes(self._body))
            self._body = None
        reading = self._reading
        incomplete = self._incomplete()
        return Metered(
            usage=reading.usage(incomplete) if reading.raw else _nothing(incomplete),
            model=reading.model,
            request_id=reading.request_id,
            finish=reading.finish,
            refused=reading.refused,
            error=reading.error,
        )

    def _incomplete(self) -> str:
        trouble = self._decoder.trouble or self._trouble
        if trouble:
            return f"the answer can't be metered: {trouble}"
        if self._reading.ended:
            return ""
        if self._reading.error:
            return f"the provider broke off with {self._reading.error}"
        if self._splitter is None and self._body is None:
            return "nothing was answered"
        return "the answer ended before its last event"

    def _take(self, piece: bytes) -> None:
        if self._splitter is None and self._body is None:
            # Servers keep a slow client alive with blank lines; what comes first after them tells JSON from events,
            # more reliably than the content type does.
            piece = piece.lstrip()
            if not piece:
                return
            if piece[:1] in (b"{", b"["):
                self._body = bytearray()
            else:
                self._splitter = Splitter()
        if self._splitter is not None:
            self._frames(self._splitter.feed(piece))
        elif self._body is not None and not self._trouble:
            self._body += piece
            if len(self._body) > MAX_BODY:
                self._trouble = f"its body is over {MAX_BODY >> 20} MiB"
                self._body.clear()

    def _frames(self, frames: list[Frame]) -> None:
        for frame in frames:
            if not frame.whole:
                self._trouble = f"an event is over {MAX_EVENT >> 20} MiB"
                continue
            data = parse(frame.raw).data
            if data is None:
                continue
            if data.strip() == b"[DONE]":
                self._reading.done()
                continue
            try:
                value = json_value(data)
            except (ValueError, RecursionError):
                # Servers send words that are no JSON to keep a client alive; an object was to say something.
                if data.startswith(b"{"):
                    self._trouble = "an event is not JSON"
                    self.malformed = True
                continue
            if isinstance(value, dict):
                self._reading.take_error(value)
                self._reading.event(value)

    def _whole(self, data: bytes) -> None:
        if self._trouble:
            return
        try:
            value = json_value(data)
        except (ValueError, RecursionError):
            self._trouble = "its body is not JSON"
            self.malformed = True
            return
        if isinstance(value, dict):
            self._reading.take_error(value)
            self._reading.body(value)
            return
        # Gemini streams a JSON array where a client does not ask for events.
        for item in value if isinstance(value, list) else ():
            if isinstance(item, dict):
                self._reading.take_error(item)
                self._reading.event(item)


def _nothing(incomplete: str) -> Usage:
    return cut(incomplete) if incomplete else unavailable(NO_USAGE)


def named(value: Mapping[str, Any], outer: str, inner: str) -> str | None:
    """A short text inside an object."""
    return text(member(value, outer).get(inner))
