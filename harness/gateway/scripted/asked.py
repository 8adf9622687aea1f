"""A request in the terms that all formats share: what was asked, which tools are offered, what we answered before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.gateway.records import Endpoint


@dataclass(frozen=True)
class Offered:
    """A tool that the request offers. ``kind`` is ``function``, or the vendor's own word for a tool of theirs."""

    name: str
    kind: str = "function"
    schema: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    about: str = ""

    def __str__(self) -> str:
        return self.name if self.kind == "function" else f"{self.name} ({self.kind})"


@dataclass(frozen=True)
class Call:
    """A call of a tool. ``arguments`` is a text for tools that take plain text."""

    name: str
    arguments: Mapping[str, Any] | str
    kind: str = "function"
    id: str = ""
    namespace: str | None = None


@dataclass(frozen=True)
class Said:
    """One of the model's earlier answers, or a part of one, as the request gives it back."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Asked:
    """One request."""

    endpoint: Endpoint
    model: str | None
    effort: str | None
    stream: bool
    tools: tuple[Offered, ...] = ()
    past: tuple[Said, ...] = ()
    system: str = ""
    users: tuple[str, ...] = ()
    """The texts of the user, tool results aside."""
    limit: int | None = None
    """The most tokens that the answer may have."""
    schema: Mapping[str, Any] | None = None
    """Of the JSON that the answer is to be."""
    parallel: bool = True
    """Whether an answer may hold more than one call."""
    thinks: bool = False
    """Whether the answer may show its thinking."""
    usage_chunk: bool = True
    """Whether a stream is to end with its usage (Chat Completions)."""
    events: bool = True
    """Whether a stream is one of events, not a JSON array (Gemini)."""

    @property
    def prompt(self) -> str:
        """Everything that was said by others than the model and its tools."""
        return "\n".join((self.system, *self.users))


def texts(value: object) -> str:
    """The text of a content that is a text, a block, or a list of blocks."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        found = value.get("text")
        return found if isinstance(found, str) else ""
    if isinstance(value, list):
        return "\n".join(filter(None, map(texts, value)))
    return ""


def table(value: object) -> Mapping[str, Any]:
    """The object that a value is; empty if it is none."""
    return value if isinstance(value, Mapping) else {}


def tables(value: object) -> list[Mapping[str, Any]]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def word(value: object) -> str:
    """The text that a value is; empty if it is none."""
    return value if isinstance(value, str) else ""
