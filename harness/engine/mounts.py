"""Taking mounts away without the mount package, which minimal systems lack. Linux only."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterable
from pathlib import Path

_MNT_DETACH = 2
_MOUNTINFO = Path("/proc/self/mountinfo")


def points(*folders: Path) -> list[Path]:
    """The mount points at or below *folders*, in this process's own mount namespace, oldest first."""
    escaped = [line.split()[4] for line in _MOUNTINFO.read_bytes().splitlines()]
    plain = [re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), point) for point in escaped]
    paths = [Path(os.fsdecode(point)) for point in plain]
    return [path for path in paths if any(path.is_relative_to(folder) for folder in folders)]


def detach(mounted: Iterable[Path]) -> None:
    """Take mounts away at once, even busy ones: whoever still uses one keeps it until they end. Needs root."""
    libc = ctypes.CDLL(None, use_errno=True)
    for point in mounted:
        libc.umount2(os.fsencode(point), _MNT_DETACH)
