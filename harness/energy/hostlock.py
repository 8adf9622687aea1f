"""Who measures on this host: many runs together, or one certified run alone.

The lock is the kernel's, on one file that all of a host's users and state folders share, and it ends with its holder.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from harness.errors import GateError, InfraError

VARIABLE = "TRIALBOX_HOST_LOCK"
"""Names another file, where the containers of one host share a folder."""
_RUN_LOCK = Path("/run/lock")
_NAME = "trialbox-host.lock"


def lock_file(environ: Mapping[str, str]) -> Path:
    """The file: as the environment says, else in ``/run/lock``, else among the temporary files."""
    named = environ.get(VARIABLE)
    if named:
        return Path(named)
    folder = _RUN_LOCK if os.access(_RUN_LOCK, os.W_OK) else Path(tempfile.gettempdir())
    return folder / _NAME


@contextmanager
def measuring(path: Path, *, alone: bool) -> Iterator[None]:
    """Hold the host: *alone* for a certified run, else beside others.

    Raises:
        GateError: a certified run holds it; or, for one that must be alone, some run does.
        InfraError: the file can't be opened.
    """
    handle = _opened(path)
    try:
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            other = "another trialbox runs on this host" if alone else "a certified run measures on this host"
            raise GateError("this host", other, "wait for it to end") from None
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    """Any user of the host may hold the lock, so the file is everybody's; nobody writes to it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            return os.open(path, flags | os.O_CREAT, 0o644)
    except OSError as error:
        problem = f"can't be opened ({error.strerror})"
        raise InfraError(str(path), problem, f"point {VARIABLE} at another file") from error
