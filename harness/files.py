"""Writing files so that a reader never sees half of one, whatever kills the writer."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from harness.errors import GO_ON, StorageError


def atomic_write(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write *data* to *path* by way of a synced temporary file in the same folder.

    Raises:
        StorageError: the disk is full, the folder is read-only, or another OS error, named with its remedy.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(fd, "wb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            os.chmod(temporary, mode)  # noqa: PTH101 - the descriptor is closed, the name is ours
            os.replace(temporary, path)  # noqa: PTH105
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(path, error) from error


_ELSEWHERE = "name a writable place; TRIALBOX_HOME names the state folder, XDG_CACHE_HOME the caches' place"


def storage_error(path: Path, error: OSError) -> StorageError:
    """One line for a failed write: what failed and what to do about it."""
    where = str(path)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageError(
            where, "the disk is full", f"free some space (`trialbox gc` may help) or use a larger disk, and {GO_ON}"
        )
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return StorageError(where, "can't be written", _ELSEWHERE)
    return StorageError(where, f"can't be made or written here: {error.strerror or error}", _ELSEWHERE)
