"""One answer before it is put into a format, and what the formats share in doing so."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.gateway.scripted.asked import Call
from harness.gateway.scripted.plan import Step
from harness.gateway.scripted.script import Tokens

_PIECE = 40
"""Characters of one delta."""
_MOST = 64
"""Deltas of one text: long ones come in longer pieces."""


@dataclass(frozen=True)
class Answer:
    """What is answered. ``id`` is new for each answer; ``created`` is in seconds."""

    id: str
    model: str
    step: Step
    tokens: Tokens
    created: int
    thinks: bool = False
    """Whether its thinking may be shown."""

    @property
    def think(self) -> str:
        """The thinking that is shown."""
        return self.step.think if self.thinks else ""


@dataclass(frozen=True)
class Problem:
    """An error. ``name`` is the format's own word for it."""

    status: int
    message: str
    name: str | None = None


def pieces(text: str) -> Iterator[str]:
    """A text in the pieces in which it is streamed."""
    size = max(_PIECE, -(-len(text) // _MOST))
    yield from (text[at : at + size] for at in range(0, len(text), size))


def compact(value: object) -> str:
    """JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


def arguments_text(call: Call) -> str:
    """A call's arguments as the text that is streamed."""
    return call.arguments if isinstance(call.arguments, str) else compact(call.arguments)


def arguments_read(text: object) -> Mapping[str, Any] | str:
    """A call's arguments out of that text."""
    if not isinstance(text, str):
        return text if isinstance(text, Mapping) else {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


def event(value: Mapping[str, Any], name: str | None = None, end: str = "\n") -> bytes:
    """One event of a stream."""
    head = f"event: {name}{end}" if name else ""
    return f"{head}data: {compact(value)}{end}{end}".encode()
