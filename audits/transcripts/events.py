"""What an agent's log says, in the few words that an audit needs: a call, what came back, and what was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Call:
    """A tool was called. ``call_id`` is empty where the log names none: then what comes next is its result."""

    name: str
    arguments: dict[str, Any]
    call_id: str = ""


@dataclass(frozen=True)
class Result:
    """What a call gave; ``failed`` is None where the log does not say."""

    text: str
    call_id: str = ""
    failed: bool | None = None


@dataclass(frozen=True)
class Said:
    """What somebody said: nothing is done by it."""

    source: Literal["system", "user", "agent"]
    text: str


Event = Call | Result | Said
