"""The two host-side channels as watchers of one attempt; one tracer serves both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, VolumeMount
from harness.evidence import TraceRecord
from harness.hooks import Hook
from harness.records import Cell
from harness.store import Store
from harness.traces.records import DENIED, FILESYSTEM
from harness.traces.tracing import Tracer


class TraceHook:
    """One channel of a tracer. The solver sees nothing of it: no mount, no variable, no process."""

    binds: Sequence[BindMount] = ()
    volumes: Sequence[VolumeMount] = ()

    def __init__(self, tracer: Tracer, channel: str, *, arms: bool) -> None:
        self.channel = channel
        self.env: dict[str, str] = {}
        self._tracer, self._arms = tracer, arms

    def before_solve(self, sandbox: Sandbox) -> None:
        """Arm the tracer, once for all its channels; never fails, since a trace is only an annotation."""
        if self._arms:
            self._tracer.arm(sandbox)

    def after_solve(self) -> TraceRecord:
        """Hand over what was seen.

        Raises:
            InfraError: the store failed.
        """
        return self._tracer.record(self.channel)


def trace_hooks(store: Store) -> tuple[Hook, ...]:
    """The hooks of one attempt; its tracer starts now."""
    tracer = Tracer(store)
    return tuple(TraceHook(tracer, channel, arms=channel == FILESYSTEM) for channel in (FILESYSTEM, DENIED))


def traced(hooks: Callable[[Cell], Sequence[Hook]], store: Store) -> Callable[[Cell], Sequence[Hook]]:
    """The hooks of every attempt with its traces before them: those of the gateway may fail, these may not."""

    def both(cell: Cell) -> Sequence[Hook]:
        others = hooks(cell)
        return (*trace_hooks(store), *others)

    return both
