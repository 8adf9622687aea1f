"""Starts an agent in its container, with the way to its model beside it: ``python3 -I launch.py PROGRAM [WORD...]``.

One child forwards 127.0.0.1:8080 to the gateway's socket, another notes what tries to go elsewhere. The agent is a
third, in a session of its own, with these standard streams; its exit status is this program's, and signals are passed
on to it. Only the standard library, any Python from 3.9; nothing is written anywhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.gateway.inside import forward, sinkhole
else:
    # Isolated, Python does not search a program's own folder.
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import forward
    import sinkhole

_PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH")
_LAST_WORDS_S = 1.0
_NOT_FOUND, _NOT_RUN, _FAILED = 127, 126, 125


def main(argv: list[str]) -> int:
    """Run the agent; the exit status."""
    if argv[:1] == ["--"]:
        argv = argv[1:]
    if not argv:
        print("launch: no program is given", file=sys.stderr)
        return _FAILED
    try:
        listener = forward.bind()
    except OSError as error:
        print(f"launch: {forward.HOST}:{forward.PORT}: {error.strerror}", file=sys.stderr)
        return _FAILED
    forwarder = _aside(lambda told: _forward(listener, told))
    notes = _aside(_note)
    listener.close()
    if not forwarder:
        print("launch: the way to the gateway could not be served", file=sys.stderr)
        return _FAILED
    agent = _start(argv)
    for name in _PASSED_ON:
        signal.signal(getattr(signal, name), lambda number, _: _signal(agent, number))
    status = _wait(agent)
    _end(notes)
    _signal(forwarder, signal.SIGKILL)
    _wait(forwarder)
    return status


def _aside(work: Callable[[int], None]) -> int:
    """Run *work* in a child that holds none of the agent's streams; it writes to what it is given when it is ready.

    Returns when it is ready: the child, or 0 if it failed.
    """
    ready, told = os.pipe()
    child = os.fork()
    if child:
        os.close(told)
        serves = os.read(ready, 1)
        os.close(ready)
        return child if serves else 0
    try:
        os.close(ready)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        work(told)
    finally:
        os._exit(0)


def _forward(listener: socket.socket, told: int) -> None:
    forwarder = forward.Forwarder(listener)
    _tell(told)
    forwarder.serve()


def _note(told: int) -> None:
    asyncio.run(_sinkhole(told))


async def _sinkhole(told: int) -> None:
    notes = sinkhole.Notes()
    await sinkhole.start(notes)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    telling = asyncio.ensure_future(sinkhole.keep_telling(notes, forward.SOCKET))
    _tell(told)
    await ended.wait()
    telling.cancel()
    if notes.changed.is_set():
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(sinkhole.tell(notes, forward.SOCKET), _LAST_WORDS_S)


def _tell(told: int) -> None:
    os.write(told, b".")
    os.close(told)


def _start(argv: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        os.execvp(argv[0], argv)  # noqa: S606 - the agent's own words
    except OSError as error:
        os.write(2, f"launch: {argv[0]}: {error.strerror}\n".encode("utf-8", "replace"))
        os._exit(_NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN)


def _wait(child: int) -> int:
    _, state = os.waitpid(child, 0)
    return 128 + os.WTERMSIG(state) if os.WIFSIGNALED(state) else os.WEXITSTATUS(state)


def _signal(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)


def _end(notes: int) -> None:
    """Let the sinkhole say what it has not told yet, and end it."""
    if not notes:
        return
    _signal(notes, signal.SIGTERM)
    signal.signal(signal.SIGALRM, lambda *_: _signal(notes, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, _LAST_WORDS_S * 2)
    _wait(notes)
    signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
