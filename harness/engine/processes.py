"""Processes that are known by what their command line names, and signals that can't hit another one. Linux only."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_KILLED_S = 30
"""A killed process may still need this long to leave the kernel."""


def find(program: str, folder: Path) -> list[int]:
    """The pids of *program* with an argument under *folder*, in this process's own root and pid namespace."""
    return [int(entry.name) for entry in _PROC.glob("[0-9]*") if _matches(entry, program, folder)]


def end(pid: int, program: str, folder: Path, *, patience_s: int) -> None:
    """Ask a process that find() named to end, and kill it after *patience_s*; a pid reused meanwhile is left alone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if not _matches(_PROC / str(pid), program, folder):
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGTERM)
            if not _wait(handle, patience_s):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                _wait(handle, _KILLED_S)
    finally:
        os.close(handle)
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def kill_children(pid: int) -> None:
    """Kill what a process started, and wait until it is gone; only the direct children."""
    with suppress(OSError):  # it ended meanwhile
        listings = (_PROC / str(pid) / "task").glob("*/children")
        for child in [int(word) for listing in listings for word in listing.read_text(encoding="ascii").split()]:
            with suppress(ProcessLookupError):
                handle = os.pidfd_open(child)
                try:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                    _wait(handle, _KILLED_S)
                finally:
                    os.close(handle)


def _wait(handle: int, seconds: int) -> bool:
    """Whether the process behind a pidfd ended in time."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _matches(entry: Path, program: str, folder: Path) -> bool:
    try:
        argv = (entry / "cmdline").read_bytes().split(b"\0")
        if Path(os.fsdecode(argv[0])).name != program:
            return False
        named = any(argument.split(b"=")[-1].startswith(os.fsencode(f"{folder}/")) for argument in argv[1:])
        return named and (entry / "root").samefile("/") and _namespace(entry) == _namespace(_PROC / "self")
    except OSError:  # it ended meanwhile, or is another user's
        return False


def _namespace(entry: Path) -> Path:
    return (entry / "ns" / "pid").readlink()
