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
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGTERM)
            if not poll.poll(patience_s * 1000):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                poll.poll(_KILLED_S * 1000)
    finally:
        os.close(handle)
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def kill_children(pid: int) -> None:
    """Kill what a process started, at once; only the direct children."""
    with suppress(OSError):  # it ended meanwhile
        for listing in (_PROC / str(pid) / "task").glob("*/children"):
            for child in listing.read_text(encoding="ascii").split():
                os.kill(int(child), signal.SIGKILL)


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
