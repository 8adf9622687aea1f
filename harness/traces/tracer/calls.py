"""Calls that failed, and connects, of every process in one pid namespace: what fanotify can't see."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
import threading
import time

from harness.traces.text import text_of
from harness.traces.tracer import bpf, failed
from harness.traces.tracer.failed import ADDRESS, DI, DX, HEAD, NUMBERS, R8, SI, SUCCESS
from harness.traces.tracer.kernel import call
from harness.traces.tracer.table import Table

_RING = 4 << 20
_TICK_S = 0.01
_AT_FDCWD = -100
_FIRST_NAMESPACE = 0xEFFFFFFC
"""The inode of the pid namespace that the kernel starts with."""
_UNIX, _INET, _INET6 = 1, 2, 10
_SOCKET_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK
_NO_FOLDER = 100
"""In the table below: the call has no folder argument, so that a relative path is of the current one."""

# Number of x86_64, what it tries, where its name is, which argument is the folder that a relative path is of.
_CALLS: dict[int, tuple[str, int, int]] = {
    **dict.fromkeys((2, 85), ("open", DI, _NO_FOLDER)),
    **dict.fromkeys((257, 437), ("open", SI, 0)),
    **dict.fromkeys((4, 6, 21), ("stat", DI, _NO_FOLDER)),
    **dict.fromkeys((262, 332, 269, 439), ("stat", SI, 0)),
    89: ("readlink", DI, _NO_FOLDER),
    267: ("readlink", SI, 0),
    59: ("exec", DI, _NO_FOLDER),
    322: ("exec", SI, 0),
    80: ("chdir", DI, _NO_FOLDER),
    # truncate, rename, mkdir, rmdir, link, unlink, chmod, chown, lchown, mknod
    **dict.fromkeys((76, 82, 83, 84, 86, 87, 90, 92, 94, 133), ("change", DI, _NO_FOLDER)),
    88: ("change", SI, _NO_FOLDER),  # symlink
    # mkdirat, mknodat, fchownat, unlinkat, renameat, linkat, fchmodat, renameat2, fchmodat2
    **dict.fromkeys((258, 259, 260, 263, 264, 265, 268, 316, 452), ("change", SI, 0)),
    266: ("change", DX, 1),  # symlinkat
    42: ("connect", SI | ADDRESS | SUCCESS, _NO_FOLDER),
    44: ("connect", R8 | ADDRESS, _NO_FOLDER),  # sendto
    41: ("socket", NUMBERS, _NO_FOLDER),
    101: ("ptrace", NUMBERS, 1),
    **dict.fromkeys((310, 311), ("ptrace", NUMBERS, 0)),  # process_vm_readv, process_vm_writev
}
_PRIVILEGES = dict(
    zip(
        (155, 161, 165, 166, 175, 246, 248, 250, 272, 298, 303, 304, 308, 313, 321, 323, 425, 428, 429, 430, 442),
        (
            *("pivot_root", "chroot", "mount", "umount", "init_module", "kexec_load", "add_key", "keyctl", "unshare"),
            *("perf_event_open", "name_to_handle_at", "open_by_handle_at", "setns", "finit_module", "bpf"),
            *("userfaultfd", "io_uring_setup", "open_tree", "move_mount", "fsopen", "mount_setattr"),
        ),
        strict=True,
    )
)
_PRIVILEGE = ("privilege", NUMBERS, _NO_FOLDER)
_LOST = {
    failed.LOST: "calls failed faster than they could be taken",
    failed.FOREIGN: "32-bit programs ran, whose calls are not read",
}
_NUMBERS_MAX = 512


class Calls:
    """Watches a pid namespace, in a thread that runs :meth:`watch`.

    Args:
        pid: a process of the namespace.

    Raises:
        OSError: the kernel has no such programs, or these rights are not ours.
    """

    def __init__(self, pid: int, *, ring: int = _RING) -> None:
        if os.uname().machine != "x86_64":
            raise OSError(errno.ENOSYS, "failed calls are seen on x86_64 only")
        self.table = Table()
        _lift_memory_limit()
        self._namespace = f"/proc/{pid}/ns/pid"
        place = os.stat(self._namespace)  # noqa: PTH116 - pathlib is slow to load
        table = bpf.make_map(bpf.ARRAY, 4, _NUMBERS_MAX)
        for number, (_, where, _) in _CALLS.items():
            bpf.put(table, number, struct.pack("=I", where))
        for number in _PRIVILEGES:
            bpf.put(table, number, struct.pack("=I", NUMBERS))
        scratch = bpf.make_map(bpf.PERCPU_ARRAY, failed.SCRATCH, 1)
        self._lost = bpf.make_map(bpf.ARRAY, 8, len(_LOST))
        ring_fd = bpf.make_map(bpf.RINGBUF, 0, ring)
        self._ring = bpf.Ring(ring_fd, ring)
        device = os.major(place.st_dev) << 20 | os.minor(place.st_dev)
        code = failed.program(
            table=table, scratch=scratch, ring=ring_fd, lost=self._lost, namespace=(device, place.st_ino)
        )
        self._offset_us = (time.time_ns() - time.monotonic_ns()) // 1000
        program, self._link = bpf.attach(code, b"sys_exit")
        for fd in (table, scratch, ring_fd, program):
            os.close(fd)
        self._stopped = threading.Event()
        # The program gives pids of the first namespace: below another, they name other processes here.
        self._counts_alike = os.stat("/proc/self/ns/pid").st_ino == _FIRST_NAMESPACE  # noqa: PTH116

    def prove(self, patience_s: float) -> bool:
        """Make a call that fails inside, and wait until it is seen.

        The process that makes it is a child of this one, put into the namespace; nothing of the container's sees more
        of it than that it was there. Call it before other threads are started.
        """
        path = f"/{os.urandom(16).hex()}"
        _fail_inside(self._namespace, path)
        deadline = time.monotonic() + patience_s
        while time.monotonic() < deadline:
            self._take()
            row = self.table.rows.pop(("stat", path, "ENOENT"), None)
            if row is not None:
                self.table.markers.append((path, row[1]))
                return True
            time.sleep(_TICK_S / 10)
        return False

    def watch(self) -> None:
        """Take records until :meth:`stop`, and then those that wait."""
        while not self._stopped.wait(_TICK_S):
            self._take()
        os.close(self._link)
        self._take()
        for index, reason in _LOST.items():
            (lost,) = struct.unpack("=Q", bpf.get(self._lost, index, 8))
            if lost:
                self.table.lost[reason] += lost

    def stop(self) -> None:
        """The container is gone."""
        self._stopped.set()

    def close(self) -> None:
        """Let go of everything, unread."""
        self._ring.close()
        os.close(self._link)
        os.close(self._lost)

    def _take(self) -> None:
        rows, table = self.table.rows, self.table
        for raw in self._ring.read():
            number, result, ns, pid, command, *args = HEAD.unpack_from(raw)
            pid >>= 32
            what, where, folder = _CALLS.get(number, _PRIVILEGE)
            target = _PRIVILEGES.get(number) or self._target(what, where, folder, args, raw[HEAD.size :], pid)
            if target is None:
                continue
            table.events += 1
            error = errno.errorcode.get(-result, str(-result))
            at_us = ns // 1000 + self._offset_us
            key = (what, target, error)
            row = rows.get(key)
            if row is None:
                name = command.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")
                table.new(key, len(target), [1, at_us, at_us, pid, name])
            else:
                row[0] += 1
                row[2] = at_us

    def _target(self, what: str, where: int, folder: int, args: list[int], name: bytes, pid: int) -> str | None:
        """What a call was about; None where it named nothing: it sent on what was connected before."""
        if what == "socket":
            family, kind, protocol = (number & 0xFFFFFFFF for number in args[:3])
            return f"{family}/{kind & ~_SOCKET_FLAGS}/{protocol}"
        if where == NUMBERS:
            return str(args[folder] & 0xFFFFFFFF)
        if where & ADDRESS:
            return _address(name)
        path = name.rstrip(b"\0")
        if path and not path.startswith(b"/") and self._counts_alike:
            place = _AT_FDCWD if folder == _NO_FOLDER else ctypes.c_int32(args[folder] & 0xFFFFFFFF).value
            link = f"/proc/{pid}/cwd" if place == _AT_FDCWD else f"/proc/{pid}/fd/{place}"
            try:
                path = os.readlink(link.encode()) + b"/" + path  # noqa: PTH115
            except OSError:
                return text_of(path)  # it has ended
        return text_of(path)


def _address(raw: bytes) -> str | None:
    if len(raw) < 2:
        return None
    from socket import inet_ntop  # slow to load, and seldom needed

    (family,) = struct.unpack_from("=H", raw)
    if family == _UNIX:
        path = raw[2:]
        abstract = path.startswith(b"\0")
        return "unix:" + ("@" if abstract else "") + text_of(path[1:] if abstract else path.split(b"\0", 1)[0])
    if family == _INET and len(raw) >= 8:
        return f"{inet_ntop(_INET, raw[4:8])}:{int.from_bytes(raw[2:4], 'big')}"
    if family == _INET6 and len(raw) >= 24:
        return f"[{inet_ntop(_INET6, raw[8:24])}]:{int.from_bytes(raw[2:4], 'big')}"
    return f"family {family}"


def _fail_inside(namespace: str, path: str) -> None:
    ours, theirs = (os.open(name, os.O_RDONLY | os.O_CLOEXEC) for name in ("/proc/self/ns/pid", namespace))
    try:
        call("setns", theirs, 0)  # of children only
        try:
            child = os.fork()
            if child == 0:
                try:
                    os.stat(path)  # noqa: PTH116
                finally:
                    os._exit(0)
        finally:
            call("setns", ours, 0)
    finally:
        os.close(ours)
        os.close(theirs)
    os.waitpid(child, 0)


def _lift_memory_limit() -> None:
    """Before Linux 5.11 maps counted as locked memory, of which a process may have little."""
    try:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        return  # not ours to lift: the kernel will say whether it matters
