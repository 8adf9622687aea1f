"""What a run may ask of its gateway, wherever that runs: calls by number, answered in any order, from many threads.

One that dies is noticed by every call from then on.
"""

from __future__ import annotations

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.engine.spec import BindMount, VolumeMount
from harness.errors import GO_ON, InfraError
from harness.gateway.access import Access, Closed
from harness.gateway.control import Call, Question, Reply, Start, plain
from harness.gateway.settings import Settings

SOCKET_FOLDER = "/run/gateway"
"""Where an attempt's container has its door."""
_START_S = 60
SLACK_S = 60


@dataclass(frozen=True)
class Door:
    """One attempt's way to its model: what its container mounts, and the token that the attempt gives as its key."""

    id: str
    mount: BindMount | VolumeMount
    token: str = field(repr=False)

    @property
    def folder(self) -> Path:
        """Its folder on this host, if it has one."""
        return Path(self.binds[0].source)

    @property
    def binds(self) -> tuple[BindMount, ...]:
        """The mount, if it is a host folder."""
        return (self.mount,) if isinstance(self.mount, BindMount) else ()

    @property
    def volumes(self) -> tuple[VolumeMount, ...]:
        """The mount, if it is a volume."""
        return (self.mount,) if isinstance(self.mount, VolumeMount) else ()


class AnyGateway(ABC):
    """The gateway of a run, as a context manager. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._open: dict[int, Future[Reply]] = {}
        self._dead = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it; sockets that are still open go with it."""
        self.end()

    @abstractmethod
    def end(self) -> None:
        """End it. Calling it again does nothing."""

    @abstractmethod
    def open(self, access: Access, *, key: str | None = None) -> Door:
        """Make a way in for one attempt.

        Args:
            access: what it may do.
            key: the real key, where it is another one than the upstream's.

        Raises:
            InfraError: the gateway died, or there is no room.
        """

    @abstractmethod
    def close(self, door: Door) -> Closed:
        """Close an attempt's way in, once its container is gone: reads on what is under way, within bounds.

        Raises:
            InfraError: the gateway died, or the trace could not be stored.
        """

    @property
    @abstractmethod
    def alive(self) -> bool:
        """Whether it runs."""

    @abstractmethod
    def _send(self, line: bytes) -> None:
        """Write a line to it; OSError if it can't be. Called by one thread at a time."""

    @abstractmethod
    def _lines(self) -> Iterator[bytes]:
        """What it says, until it ends."""

    @abstractmethod
    def _last_words(self) -> bytes:
        """The end of what it said on its standard error, if it is dead."""

    def _begin(self, start: Start) -> None:
        """Wait until it is ready.

        Raises:
            InfraError: it died, or said nothing in time.
        """
        ready: Future[Reply] = Future()
        self._open[0] = ready
        threading.Thread(target=self._listen, name="gateway", daemon=True).start()
        self._write(plain(start))
        self._wait(ready, _START_S)

    def _ask(self, question: Callable[[int], Question], wait_s: float) -> Reply:
        number = next(self._numbers)
        future: Future[Reply] = Future()
        line = plain(Call(call=question(number)))
        with self._lock:
            if self._dead:
                raise self._gone(self._dead)
            self._open[number] = future
        self._write(line)
        reply = self._wait(future, wait_s)
        if reply.problem is not None:
            raise InfraError("the gateway", reply.problem, GO_ON)
        return reply

    def _write(self, line: bytes) -> None:
        with self._lock:
            try:
                self._send(line)
            except OSError as error:
                raise self._gone("it died") from error

    def _wait(self, future: Future[Reply], seconds: float) -> Reply:
        try:
            return future.result(seconds)
        except FutureTimeout as error:
            raise self._gone(f"it did not answer within {seconds:g} s") from error

    def _listen(self) -> None:
        """Hand replies to whoever asked; at the end, tell everybody who still waits."""
        for line in self._lines():
            reply = Reply.model_validate_json(line)
            with self._lock:
                future = self._open.pop(reply.number, None)
            if future is not None:
                future.set_result(reply)
        with self._lock:
            self._dead = "it died"
            waiting, self._open = list(self._open.values()), {}
        for future in waiting:
            future.set_exception(self._gone(self._dead))

    def _gone(self, problem: str) -> InfraError:
        lines = self._last_words().decode("utf-8", "replace").strip().splitlines()
        return InfraError("the gateway", problem + (f" ({lines[-1]})" if lines else ""), GO_ON)
