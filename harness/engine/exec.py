"""One program run inside a running container, its streams bounded and its time limited.

The stream is read on the host until the program ends, the deadline passes or the engine goes away; output past the
limit is counted and dropped, so that neither side fills up. On a deadline the stream is closed and the caller kills
the container: an unread stream delays the engine's teardown by seconds.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.engine.client import Engine, engine_errors
from harness.errors import GO_ON, EngineGone

_HEADER = 8
_READ = 1 << 18
_FIRST_POLL_S = 0.2
_BEGINNING_S = 30.0
"""How long an engine may take to start a program that it took on."""
_POLL_S = 1.0
_LINGER_S = 3.0


@dataclass(frozen=True)
class ExecResult:
    """What a program left: ``exit_status`` is None if it was still running at the deadline.

    ``stdout`` and ``stderr`` hold at most the limit each; ``dropped`` counts the bytes beyond it, over both.
    """

    exit_status: int | None
    stdout: bytes
    stderr: bytes
    dropped: int
    timed_out: bool
    wall_us: int

    @property
    def cut(self) -> bool:
        """Whether output was lost to the limit."""
        return self.dropped > 0


class _Sink:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.data = bytearray()
        self.dropped = 0

    def __call__(self, chunk: bytes) -> None:
        room = self.limit - len(self.data)
        self.data += chunk[:room] if room > 0 else b""
        self.dropped += max(0, len(chunk) - max(0, room))


class Stop(Exception):
    """Raised by a consumer of stdout to end the exec early (the tree was refused, no more is needed)."""


def run(
    engine: Engine,
    container: str,
    argv: Sequence[str],
    *,
    user: str,
    workdir: str,
    env: Mapping[str, str],
    stdin: bytes | Iterator[bytes] = b"",
    timeout_s: float,
    max_output: int,
    consume: Callable[[bytes], None] | None = None,
) -> ExecResult:
    """Run *argv* and wait for it.

    Args:
        engine: the engine.
        container: the running container's id.
        argv: the program; no shell is involved.
        user: ``uid:gid``.
        workdir: the current folder.
        env: the environment on top of the container's.
        stdin: what the program reads; its standard input is closed after it.
        timeout_s: seconds until the deadline.
        max_output: bytes kept of stdout and of stderr each.
        consume: takes stdout chunk by chunk instead of keeping it; may raise Stop.

    Raises:
        EngineGone: the engine stopped answering.
        InfraError: the engine refused.
    """
    api = engine.api
    with engine_errors("exec"):
        made: dict[str, Any] = api.exec_create(
            container,
            list(argv),
            stdin=bool(stdin),
            stdout=True,
            stderr=True,
            user=user,
            workdir=workdir,
            environment=dict(env),
        )
        exec_id = str(made["Id"])
        started = time.monotonic_ns()
        holder = api.exec_start(exec_id, socket=True)
    out, err = _Sink(max_output), _Sink(max_output)
    stream = Stream(holder)
    try:
        timed_out = _pump(
            stream,
            iter((stdin,)) if isinstance(stdin, bytes) else stdin,
            started / 1e9 + timeout_s,
            bool(stdin),
            consume or out,
            err,
            lambda: _runs(_inspect(engine, exec_id), started / 1e9),
        )
    except Stop:
        timed_out = False
    finally:
        stream.close()
    wall_us = (time.monotonic_ns() - started) // 1000
    state = _inspect(engine, exec_id)
    status = None if state["Running"] or state["ExitCode"] is None else int(state["ExitCode"])
    return ExecResult(status, bytes(out.data), bytes(err.data), out.dropped + err.dropped, timed_out, wall_us)


def _runs(state: Mapping[str, Any], asked: float) -> bool:
    """Whether a program goes on, or has not begun yet: on a busy host the engine answers before it has started one.

    A program that ended has an exit status. One that was never begun, since its container died first, may get none.
    """
    return bool(state["Running"]) or (state["ExitCode"] is None and time.monotonic() < asked + _BEGINNING_S)


def _inspect(engine: Engine, exec_id: str) -> dict[str, Any]:
    with engine_errors("exec"):
        state: dict[str, Any] = engine.api.exec_inspect(exec_id)
    return state


class Stream:
    """The hijacked connection of an exec, non-blocking.

    The SDK hands out the raw socket below its buffered reader; what the reader already swallowed with the response
    headers would be lost, so it is taken from there first.
    """

    def __init__(self, holder: Any) -> None:
        self._holder = holder
        self.socket: socket.socket = getattr(holder, "_sock", holder)
        self.socket.setblocking(False)
        reader = getattr(getattr(getattr(getattr(holder, "_response", None), "raw", None), "_fp", None), "fp", None)
        self.early: bytes = b""
        if reader is not None and hasattr(reader, "peek"):
            self.early = bytes(reader.peek(0) or b"")

    def end_input(self) -> None:
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # the program ended first

    def close(self) -> None:
        response = getattr(self._holder, "_response", None)
        if response is not None:
            response.close()  # before the socket below it, which closing it would still flush
        self._holder.close()
        self.socket.close()


class Frames:
    """The engine's stream framing: one byte of stream number, three of padding, four of length, then the bytes."""

    def __init__(self, out: Callable[[bytes], None], err: Callable[[bytes], None]) -> None:
        self._sinks = {1: out, 2: err}
        self._head = bytearray()
        self._sink = err
        self._left = 0

    def feed(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            if self._left == 0:
                need = _HEADER - len(self._head)
                self._head += view[:need]
                view = view[need:]
                if len(self._head) < _HEADER:
                    return
                self._left = int.from_bytes(self._head[4:8], "big")
                self._sink = self._sinks.get(self._head[0], self._sinks[2])
                self._head.clear()
                continue
            part = view[: self._left]
            self._sink(bytes(part))
            self._left -= len(part)
            view = view[len(part) :]


def _pump(
    stream: Stream,
    chunks: Iterator[bytes],
    deadline: float,
    writing: bool,
    out: Callable[[bytes], None],
    err: Callable[[bytes], None],
    running: Callable[[], bool],
) -> bool:
    """Move bytes until the stream ends, the program ends, or the deadline passes; True on the deadline."""
    frames = Frames(out, err)
    frames.feed(stream.early)
    pending = memoryview(b"")
    poll_s = _FIRST_POLL_S
    ask = time.monotonic() + poll_s
    ended = False
    with selectors.DefaultSelector() as selector:
        selector.register(stream.socket, selectors.EVENT_READ | (selectors.EVENT_WRITE if writing else 0))
        while True:
            now = time.monotonic()
            if now >= deadline:
                return not ended
            if now >= ask:
                # A child that outlives the program keeps the stream open, silent or not: ask about the program itself.
                # What it said may still be on its way; what the child says has no end.
                if ended:
                    return False
                ended = not running()
                poll_s = _LINGER_S if ended else min(_POLL_S, poll_s * 2)
                ask = time.monotonic() + poll_s
            silence = _FIRST_POLL_S if ended else max(0.0, min(deadline, ask) - time.monotonic())
            ready = selector.select(silence)
            if not ready:
                if ended:
                    return False
                continue
            events = ready[0][1]
            if events & selectors.EVENT_READ:
                data = _receive(stream)
                if data == b"":
                    return _await_end(deadline, running)
                if data is not None:
                    frames.feed(data)
            if writing and events & selectors.EVENT_WRITE:
                if not pending:
                    pending = memoryview(next(chunks, b""))
                if pending:
                    try:
                        pending = pending[stream.socket.send(pending) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        writing = False  # the program closed its standard input; what it says still counts
                else:
                    stream.end_input()
                    writing = False
                if not writing:
                    selector.modify(stream.socket, selectors.EVENT_READ)


def _await_end(deadline: float, running: Callable[[], bool]) -> bool:
    """Wait for a program that closed its streams; True on the deadline. Mostly it has ended, and this asks once."""
    poll_s = 0.005
    while running():
        if time.monotonic() >= deadline:
            return True
        time.sleep(poll_s)
        poll_s = min(_FIRST_POLL_S, poll_s * 2)
    return False


def _receive(stream: Stream) -> bytes | None:
    try:
        return stream.socket.recv(_READ)
    except BlockingIOError:
        return None
    except OSError as error:
        problem, remedy = "the engine closed the stream", f"start it and {GO_ON}"
        raise EngineGone("exec", problem, remedy) from error
