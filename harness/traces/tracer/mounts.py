"""The mounts of a container, each held by a descriptor that the harness opened itself."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from harness.traces.tracer.kernel import words

KERNEL = frozenset({b"proc", b"sysfs", b"cgroup", b"cgroup2", b"mqueue", b"devpts", b"securityfs", b"debugfs"})
"""Filesystems that are the kernel's words and not files: opening one again may fail once its process is gone."""


class Mount:
    """One mount.

    Args:
        number: the kernel's number of it.
        target: where it is for the container.
        fd: a descriptor that only names it.
        kernel: whether it holds the kernel's words and no files.
        sees: whether it can have events at all: fanotify tells of files and folders, not of devices.
    """

    def __init__(self, number: int, target: bytes, fd: int, *, kernel: bool, sees: bool) -> None:
        self.number, self.target, self.fd, self.kernel, self.sees = number, target, fd, kernel, sees


def number_of(fd: int) -> int:
    """The number of the mount that an open file is on."""
    for line in words(f"/proc/self/fdinfo/{fd}").splitlines():
        if line.startswith(b"mnt_id:"):
            return int(line.split()[1])
    raise OSError(38, "this kernel does not number the mounts of open files")


@contextmanager
def held(pid: int) -> Iterator[tuple[list[Mount], list[bytes]]]:
    """All mounts that a process can reach, and where those are that can't be opened.

    What lies below another mount is of neither: nothing there can be reached. Nothing of a candidate's may run yet,
    since the places are opened by name.

    Raises:
        OSError: the process has ended.
    """
    table = [line.split() for line in words(f"/proc/{pid}/mountinfo").splitlines()]
    numbers = {int(fields[0]) for fields in table}
    mounts: list[Mount] = []
    failed: list[bytes] = []
    try:
        for fields in table:
            target = re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), fields[4])
            try:
                fd = os.open(b"/proc/%d/root%s" % (pid, target), os.O_PATH | os.O_CLOEXEC)
            except OSError:
                failed.append(target)
                continue
            number = number_of(fd)
            if number == int(fields[0]):
                mode = os.fstat(fd).st_mode
                kind = fields[fields.index(b"-") + 1]
                sees = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
                mounts.append(Mount(number, target, fd, kernel=kind in KERNEL, sees=sees))
                continue
            os.close(fd)
            if number not in numbers:
                failed.append(target)
        yield mounts, failed
    finally:
        for mount in mounts:
            os.close(mount.fd)
