"""The one rule that limits must keep between themselves."""

from __future__ import annotations

from harness.errors import UserError
from harness.records import Limits

INODE_KB = 1
"""What an inode of a tmpfs costs its container's memory, about."""

HEADROOM_MB = 64
"""What the processes themselves are left at least."""


def needed_kb(limits: Limits) -> int:
    """The memory, in KiB, that full volumes, all their inodes and the headroom take together."""
    volumes = 1024 * (limits.workspace_mb + limits.home_mb + limits.tmp_mb)
    return volumes + INODE_KB * (limits.workspace_inodes + limits.home_inodes) + 1024 * HEADROOM_MB


def check_limits(limits: Limits, where: str) -> None:
    """Volumes are memory: a volume that the memory limit can't hold would kill its writer instead of saying "full".

    Raises:
        UserError: the volumes, their inodes and the headroom don't fit into ``memory_mb``.
    """
    needed_mb = -(-needed_kb(limits) // 1024)
    if needed_mb > limits.memory_mb:
        raise UserError(
            f"{where}: limits.memory_mb",
            f"{limits.memory_mb} MB can't hold the volumes: workspace_mb + home_mb + tmp_mb, 1 KB for each inode and "
            f"{HEADROOM_MB} MB for processes are {needed_mb} MB",
            f"raise memory_mb to at least {needed_mb} or lower the others",
        )
