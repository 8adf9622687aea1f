"""Threads that grade side by side, and can be called off: their containers are taken from under them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from harness.engine.client import Engine
from harness.engine.owned import reap
from harness.errors import InfraError

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of threads whose work runs in containers of *owner*. Leaving by an exception ends all of it."""

    def __init__(self, engine: Engine, owner: str, count: int) -> None:
        self.count = count
        self._engine, self._owner = engine, owner
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="trialbox-check")
        self._begun: list[Future[Any]] = []

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do some work beside other work."""
        future = self._pool.submit(work, *args, **kwargs)
        self._begun = [*(one for one in self._begun if not one.done()), future]
        return future

    def call_off(self) -> None:
        """End what is under way and begin nothing more."""
        running = {one for one in self._begun if not one.cancel()}
        while running:
            with contextlib.suppress(InfraError):  # the engine is away, or a container ended by itself
                reap(self._engine, self._owner)
            _, running = wait(running, timeout=1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.call_off()
        self._pool.shutdown()
