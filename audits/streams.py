"""What an answer says, put together again: pieces of one text that came in many events are one text here.

Pieces belong together that lie at the same place of their events, such as ``choices.delta.content`` of the choice with
the same ``index``; so it is with each of the wire formats, and with one that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from harness.gateway.sse import Splitter, parse

_MAX_PLACES = 20_000
_MAX_DEPTH = 60


def texts_of(body: bytes) -> Iterator[bytes]:
    """The texts of a body, each with its pieces joined: of server-sent events, JSON lines, or one JSON value.

    Bytes that are none of these give nothing; they are searched as they are.
    """
    found: dict[str, list[str]] = {}
    for value in values_of(body):
        _walk(value, "", found, 0)
    for pieces in found.values():
        yield "".join(pieces).encode("utf-8", "replace")


def values_of(body: bytes) -> Iterator[Any]:
    """The JSON values of a body: of each event, of each line, or the one that it is."""
    whole = _value(body)
    if whole is not None:
        yield whole
        return
    splitter = Splitter()
    for frame in [*splitter.feed(body), *splitter.close()]:
        event = parse(frame.raw)
        for raw in [event.data] if event.data is not None else frame.raw.splitlines():
            value = _value(raw)
            if value is not None:
                yield value


def _value(raw: bytes) -> Any:
    try:
        return from_json(raw)
    except ValueError:
        return None


def _walk(value: Any, place: str, found: dict[str, list[str]], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        if place in found or len(found) < _MAX_PLACES:
            found.setdefault(place, []).append(value)
    elif isinstance(value, dict):
        index = value.get("index")
        here = f"{place}[{index}]" if isinstance(index, int) else place
        for key, one in value.items():
            _walk(one, f"{here}.{key}", found, depth + 1)
    elif isinstance(value, list):
        for one in value:
            _walk(one, place, found, depth + 1)
