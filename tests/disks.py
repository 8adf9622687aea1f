"""Small and read-only disks: a tmpfs mounted by the system call, since a minimal machine has no ``mount`` program."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_READ_ONLY = 1
_DETACH = 2
_REMOUNT = 32


@contextmanager
def disk(folder: Path, *, kib: int = 1024, read_only: bool = False) -> Iterator[Path]:
    """A disk of that size over *folder* (needs root)."""
    libc = ctypes.CDLL(None, use_errno=True)
    folder.mkdir(exist_ok=True)
    place = os.fsencode(folder)
    flags = ctypes.c_ulong(_READ_ONLY if read_only else 0)
    if libc.mount(b"tmpfs", place, b"tmpfs", flags, f"size={kib}k".encode()):
        raise OSError(ctypes.get_errno(), "mount")
    try:
        yield folder
    finally:
        if libc.umount2(place, _DETACH):
            raise OSError(ctypes.get_errno(), "umount")


def remount_read_only(folder: Path) -> None:
    """Make such a disk read-only with what is on it."""
    libc = ctypes.CDLL(None, use_errno=True)
    place = os.fsencode(folder)
    if libc.mount(b"tmpfs", place, b"tmpfs", ctypes.c_ulong(_REMOUNT | _READ_ONLY), None):
        raise OSError(ctypes.get_errno(), "mount")
