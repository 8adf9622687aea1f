"""Processes inside the grading container: how they start, what they may use, how they are ended."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time

AGENT_UID = 10001


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def silence() -> None:
    """Let the three standard streams lead nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    if nowhere > 2:
        os.close(nowhere)


def limit_worker(file_bytes: int) -> None:
    """In a child, before candidate code: limits, and the first to go when memory runs out."""
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, file_bytes), (resource.RLIMIT_NOFILE, 256)):
        resource.setrlimit(what, (most, most))
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as adjust:  # noqa: PTH123 - nothing but the call
        adjust.write("1000")


def end_all(group: int | None = None) -> None:
    """Kill a process group and, as the sandbox's own user, everything else of that user's but us."""
    if group is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    if os.getuid() == AGENT_UID:  # nobody but a container of ours runs as this user: never on a user's own machine
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)


def fork() -> int | None:
    """Fork, waiting a little for process ids that a killed bomb still holds; None if there is none to be had."""
    for _ in range(50):
        try:
            return os.fork()
        except OSError:
            end_all()
            time.sleep(0.02)
    return None
