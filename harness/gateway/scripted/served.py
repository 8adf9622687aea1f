"""The provider's own record of what it served: what a meter's figures are held against."""

from __future__ import annotations

from harness.gateway.records import Api, Usage
from harness.gateway.scripted.script import FaultKind
from harness.records import Count, Record

MAX_USER = 200


class Served(Record):
    """One request that named a script's key, in the order in which they came."""

    seq: Count
    api: Api
    path: str
    billed: bool
    """False where only tokens are counted."""
    model: str | None
    """The one asked for."""
    served_model: str | None
    """The one that the answer claims to be from."""
    effort: str | None
    streamed: bool
    status: int | None
    """None if nothing was said."""
    turn: int | None
    """From 0; None for an aside, or a request that was turned away before any turn was chosen."""
    aside: bool
    fault: FaultKind | None
    usage: Usage | None
    """What the answer used, as its format can say it; None where nothing was billed. That of an answer that was cut is
    what the provider counts, although the answer never said it."""
    stated: bool
    """Whether the answer said its usage, to its end."""
    cut: bool
    """Whether the client got less than the whole answer: by a fault, or since it left."""
    request_id: str
    """The id in the answer's body, or in an error's header."""
    tools: tuple[str, ...]
    """The tools that the request offered; one that is no function with its kind."""
    called: tuple[str, ...]
    """The tools that the answer calls."""
    past: Count
    """How many answers of the model the request holds."""
    user: str
    """The beginning of the last text of the user."""
    problem: str = ""
    """Why it was turned away."""

    def __str__(self) -> str:
        """One line for a log."""
        place = "aside" if self.aside else "-" if self.turn is None else f"turn {self.turn}"
        parts = [
            f"{self.seq} {self.path} {self.model}",
            "stream" if self.streamed else "whole",
            place,
            str(self.status),
        ]
        parts += [f"fault {self.fault.value}"] if self.fault else []
        parts += [f"calls {', '.join(self.called)}"] if self.called else []
        parts += ["cut"] if self.cut else []
        parts += [self.problem] if self.problem else []
        parts.append(f"{self.past} answers before, offered {', '.join(self.tools) or 'no tools'}, asked {self.user!r}")
        return "; ".join(parts)
