"""Opens, execs and writes on every mount of a container, by fanotify from outside.

A mark is on a mount, not on a filesystem, so that another container's view of the same files is not seen. The queue is
unlimited; what it may hold is bounded here, by letting go of the marks until it is read.

The reader waits for a first event and then looks every few milliseconds: a process that waits in the kernel would be
woken by each event, which costs the solver more than the event does.
"""

from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import os
import select
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from functools import cache

from harness.traces.text import text_of
from harness.traces.tracer.kernel import call
from harness.traces.tracer.mounts import Mount, number_of
from harness.traces.tracer.process import Processes, now_us
from harness.traces.tracer.table import Table

_CLOEXEC, _NONBLOCK, _UNLIMITED_QUEUE, _UNLIMITED_MARKS = 0x1, 0x2, 0x10, 0x20
_REPORT_FD_ERROR = 0x2000
"""Since Linux 6.13: an event whose file can't be opened is told with the error in the descriptor's place."""
_MARK_ADD, _MARK_MOUNT, _MARK_FLUSH = 0x1, 0x10, 0x80
_CLOSE_WRITE, _OPEN, _OPEN_EXEC, _OVERFLOW, _ONDIR = 0x8, 0x20, 0x1000, 0x4000, 0x40000000
_MASK = _CLOSE_WRITE | _OPEN | _OPEN_EXEC | _ONDIR
_OPS = ((_OPEN, "open"), (_OPEN_EXEC, "exec"), (_CLOSE_WRITE, "close_write"))

# The kernel opens the file anew for the reader. Without O_NONBLOCK a lease on it would hold the reader up for a minute.
_EVENT_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOATIME | getattr(os, "O_LARGEFILE", 0)
_EVENT = struct.Struct("=IBBHQii")
_BATCH = 128
"""Events a read, each with a descriptor: far below any limit on those."""
MAX_WAITING = 500_000
"""Events, about 100 bytes of the kernel's memory each."""
_TICK_S = 0.002
_GONE = frozenset({errno.ESRCH, errno.ENOENT, errno.EINVAL})
"""What the kernel says of a process's own files once it has ended; the last of its mounts, which every ``df`` reads."""
_DELETED = b" (deleted)"


class Files:
    """Watches mounts, in a thread that runs :meth:`watch`.

    Args:
        mounts: the mounts, held for as long as this lives.
        processes: who is who.
        kernel: whether these are the kernel's own filesystems, where a file may be gone with its process.
        max_waiting: how many events may wait.

    Raises:
        OSError: fanotify can't be had here.
    """

    def __init__(
        self, mounts: Sequence[Mount], processes: Processes, *, kernel: bool, max_waiting: int = MAX_WAITING
    ) -> None:
        self.table = Table()
        self.unmarked: list[bytes] = []
        """Where the mounts are that could not be marked."""
        self._mounts, self._processes, self._kernel, self._max = mounts, processes, kernel, max_waiting
        self._fd, self._batch = _group()
        self._size = array.array("i", [0])
        self._by_number = {one.number: one for one in mounts}
        self._probe = next((one for one in mounts if one.target != b"/"), None)
        self._stop, self._stopper = os.pipe()
        self.unmarked = self._mark()

    def prove(self, patience_s: float) -> list[bytes]:
        """Touch each mount and wait for the event of it.

        Returns:
            where the mounts are of which none came.
        """
        wanted = {one.number: one for one in self._mounts if one.sees}
        for one in wanted.values():
            os.close(os.open(f"/proc/self/fd/{one.fd}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
        me = os.getpid()
        deadline = time.monotonic() + patience_s
        while wanted and time.monotonic() < deadline:
            for events in self._waiting():
                others = [one for one in events if one[2] != me or one[1] < 0]
                for _, fd, _ in [one for one in events if one not in others]:
                    found = wanted.pop(number_of(fd), None)
                    os.close(fd)
                    if found is not None:
                        self.table.markers.append((text_of(found.target), now_us()))
                self._take(others)
            time.sleep(_TICK_S / 10)
        return [one.target for one in wanted.values()]

    def watch(self) -> None:
        """Take events until :meth:`stop`, and then those that wait."""
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while all(fd != self._stop for fd, _ in poll.poll()):
            self._drain(self._max)
            time.sleep(_TICK_S)
        while self._drain(sys.maxsize):
            pass
        os.close(self._fd)

    def stop(self) -> None:
        """No event is to come any more: the container is gone."""
        os.write(self._stopper, b"x")

    def _mark(self) -> list[bytes]:
        failed = []
        for one in self._mounts:
            place = b"/proc/self/fd/%d" % one.fd
            try:
                call("fanotify_mark", self._fd, _MARK_ADD | _MARK_MOUNT, ctypes.c_uint64(_MASK), -1, place)
            except OSError:
                failed.append(one.target)
        return failed

    def _drain(self, bound: int) -> int:
        """Take the events that wait; how many those were. Of more than *bound* see nothing until they are read."""
        waiting = self._count_waiting()
        if waiting <= bound:
            for events in self._waiting():
                self._take(events)
            return waiting
        call("fanotify_mark", self._fd, _MARK_FLUSH | _MARK_MOUNT, ctypes.c_uint64(0), -1, b"/")
        self.table.lost["events came faster than they could be taken"] += 1
        while self._drain(sys.maxsize):
            pass
        if self._mark():
            self.table.lost["a mount could not be watched again"] += 1
        return waiting

    def _count_waiting(self) -> int:
        fcntl.ioctl(self._fd, termios.FIONREAD, self._size)
        return self._size[0] // _EVENT.size

    def _waiting(self) -> Iterator[list[tuple[int, int, int]]]:
        """The events that wait now, each its mask, its descriptor and its pid, in small batches."""
        left = self._count_waiting()
        while left > 0:
            try:
                data = os.read(self._fd, self._batch * _EVENT.size)
            except OSError as error:  # one event is gone, and its file could not be opened
                self._unopened(error.errno or 0, 0, 0)
                left -= 1
                continue
            left -= len(data) // _EVENT.size
            yield [(mask, fd, pid) for _, _, _, _, mask, fd, pid in _EVENT.iter_unpack(data)]

    def _take(self, events: Sequence[tuple[int, int, int]]) -> None:
        """Count a batch, and close its descriptors."""
        found = []
        for mask, fd, pid in events:
            if mask & _OVERFLOW:
                self.table.lost["the kernel had no room for more events"] += 1
            elif fd < 0:
                self._unopened(-fd, mask, pid)
            else:
                found.append((mask, fd, pid, _name_of(fd)))
        if not self._attached():
            found = [(mask, fd, pid, self._detached(fd)) for mask, fd, pid, _ in found]
        for mask, fd, pid, path in found:
            plain = path
            if path.endswith(_DELETED) and not os.fstat(fd).st_nlink:
                plain = path[: -len(_DELETED)]
            os.close(fd)
            self._count(plain, mask, pid)

    def _attached(self) -> bool:
        """Whether the mounts are where they were: asked after names were, these were whole if it is so.

        The mounts of a container that has ended are taken apart, all at once, and names then begin at each.
        """
        probe = self._probe
        return probe is None or _name_of(probe.fd) == probe.target

    def _detached(self, fd: int) -> bytes:
        """The name of an open file whose mount may have been taken away."""
        path = _name_of(fd)
        mount = self._by_number.get(number_of(fd))
        if mount is None or _name_of(mount.fd) == mount.target:
            return path
        return mount.target.rstrip(b"/") + path if path != b"/" else mount.target

    def _unopened(self, code: int, mask: int, pid: int) -> None:
        if self._kernel and code in _GONE:
            self._count(b"/proc/?", mask or _OPEN, pid)
            return
        self.table.lost[f"a file could not be looked at ({errno.errorcode.get(code, str(code))})"] += 1

    def _count(self, path: bytes, mask: int, pid: int) -> None:
        now = time.time_ns()
        command, inside = self._processes.who(pid, now)
        now //= 1000
        table = self.table
        for bit, op in _OPS:
            if mask & bit:
                table.events += 1
                key = (path, op, inside)
                row = table.rows.get(key)
                if row is None:
                    table.new(key, len(path), [1, now, now, pid, command])
                else:
                    row[0] += 1
                    row[2] = now
        if mask & _OPEN_EXEC:
            self._processes.forget(pid)


def _name_of(fd: int) -> bytes:
    return os.readlink(b"%d" % fd, dir_fd=_descriptors())


@cache
def _descriptors() -> int:
    """This process's own folder of descriptors: names are had a third faster from there."""
    return os.open("/proc/self/fd", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _group() -> tuple[int, int]:
    """An fanotify group, and how many events may be read at once without losing one that can't be opened."""
    flags = _CLOEXEC | _NONBLOCK | _UNLIMITED_QUEUE | _UNLIMITED_MARKS
    try:
        return call("fanotify_init", flags | _REPORT_FD_ERROR, _EVENT_FLAGS), _BATCH
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    return call("fanotify_init", flags, _EVENT_FLAGS), 1


def allowed() -> None:
    """Make a group and let it go.

    Raises:
        OSError: this process may not, or the kernel can't.
    """
    os.close(_group()[0])
