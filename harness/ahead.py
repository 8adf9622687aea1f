"""Something that takes a while, begun while something else goes on: a container that the next stage will need."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """A context entered in a thread of its own; leaving the block leaves it, whether it was taken or not.

    Args:
        make: makes the context manager; it and its ``__enter__`` run in the thread.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[T]]) -> None:
        self._make = make
        self._context: AbstractContextManager[T] | None = None
        self._future: Future[T] | None = None

    def start(self) -> None:
        """Begin."""
        with_thread = ThreadPoolExecutor(1, thread_name_prefix="trialbox-ahead")
        self._future = with_thread.submit(self._enter)
        with_thread.shutdown(wait=False)

    def take(self) -> T:
        """What was made, waiting for it; begun now if it was not before.

        Raises:
            whatever making it raised.
        """
        if self._future is None:
            self.start()
        assert self._future is not None
        return self._future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._future is not None and self._future.exception() is None and self._context is not None:
            self._context.__exit__(kind, value, trace)

    def _enter(self) -> T:
        context = self._make()
        value = context.__enter__()
        self._context = context
        return value
