"""Where tracers and the gateway plug into an attempt: the slots, typed, and the channels nobody watches yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount
from harness.evidence import TraceRecord
from harness.records import Cell, Coverage

CHANNELS = ("filesystem", "denied", "web")
"""The audit's channels; each has a coverage on the card, watched or not."""


class Hook(Protocol):
    """One watcher of one attempt; a fresh object each attempt.

    ``channel`` is what it watches. ``binds`` are host folders its container needs (a gateway's socket folder) and
    ``env`` what the solver must know to use them.
    """

    channel: str
    binds: Sequence[BindMount]
    env: dict[str, str]

    def before_solve(self, sandbox: Sandbox) -> None:
        """The container runs and is sealed, the solver does not run yet: arm, and prove it by a marker event."""

    def after_solve(self) -> TraceRecord:
        """The solver is dead, its workspace still held: disarm and hand over what was seen."""


def no_hooks(_: Cell) -> Sequence[Hook]:
    """Nobody watches."""
    return ()


def unwatched(seen: Sequence[TraceRecord]) -> tuple[TraceRecord, ...]:
    """Records for the channels that no hook watched, so that none is silently absent."""
    watched = {record.channel for record in seen}
    return tuple(
        TraceRecord(channel=channel, coverage=Coverage.NONE, reason="no tracer watched this channel")
        for channel in CHANNELS
        if channel not in watched
    )
