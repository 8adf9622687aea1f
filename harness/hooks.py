"""Where tracers and the gateway plug into an attempt: the slots, typed, and the channels nobody watches yet."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Protocol

from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, VolumeMount
from harness.evidence import TraceRecord
from harness.gateway.access import Closed
from harness.records import Cell, Coverage

CHANNELS = ("filesystem", "denied", "web")
"""The audit's channels; each has a coverage on the card, watched or not."""


class Hook(Protocol):
    """One watcher of one attempt; a fresh object each attempt.

    ``channel`` is what it watches. ``binds`` and ``volumes`` are what its container needs (a gateway's socket) and
    ``env`` what the solver must know to use them.
    """

    channel: str
    binds: Sequence[BindMount]
    volumes: Sequence[VolumeMount]
    env: dict[str, str]

    def before_solve(self, sandbox: Sandbox) -> None:
        """The container runs and is sealed, the solver does not run yet: arm, and prove it by a marker event."""

    def after_solve(self) -> TraceRecord:
        """The solver is dead, its workspace still held: disarm and hand over what was seen."""


def no_hooks(_: Cell) -> Sequence[Hook]:
    """Nobody watches."""
    return ()


def disarmed(hooks: Sequence[Hook]) -> tuple[TraceRecord, ...]:
    """What each hook saw. One that fails keeps no other from its end: a gateway's door would stay open.

    Raises:
        InfraError: one of them failed, once all have ended.
    """
    records: list[TraceRecord] = []

    def end(hook: Hook) -> None:
        records.append(hook.after_solve())

    with ExitStack() as ends:
        for hook in reversed(hooks):
            ends.callback(end, hook)
    return tuple(records)


def unwatched(seen: Sequence[TraceRecord]) -> tuple[TraceRecord, ...]:
    """Records for the channels that no hook watched, so that none is silently absent."""
    watched = {record.channel for record in seen}
    return tuple(
        TraceRecord(channel=channel, coverage=Coverage.NONE, reason="no tracer watched this channel")
        for channel in CHANNELS
        if channel not in watched
    )


def closed_door(hooks: Sequence[Hook]) -> Closed | None:
    """What the gateway's hook among them saw; None where there is none, or it never got to see anything."""
    found = (getattr(hook, "closed", None) for hook in hooks)
    return next((one for one in found if isinstance(one, Closed)), None)
