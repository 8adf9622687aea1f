"""As much of ``bpf(2)`` as the tracer of failed calls needs: maps, one program, its hook, a ring. Linux only.

What is made is known by its descriptor alone, and gone when that is closed: nothing can be left behind.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Iterator

from harness.traces.tracer.kernel import LIBC

_SYSCALL = 321
"""Of x86_64."""
_MAP_CREATE, _MAP_LOOKUP, _MAP_UPDATE, _PROG_LOAD, _RAW_TRACEPOINT_OPEN = 0, 1, 2, 5, 17
ARRAY, PERCPU_ARRAY, RINGBUF = 2, 6, 27
_RAW_TRACEPOINT = 17
_LICENCE = b"Dual MIT/GPL"
"""The kernel lends its helpers to programs under such a licence alone; :mod:`.failed`'s instructions are under it."""
_LOG = 1 << 16


def _bpf(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes, max(len(attributes), 128))
    answer: int = LIBC.syscall(_SYSCALL, command, buffer, len(buffer))
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"bpf: {os.strerror(code)}")
    return answer


def _address(buffer: object) -> int:
    return ctypes.addressof(buffer)  # type: ignore[arg-type]


def make_map(kind: int, value_size: int, entries: int) -> int:
    """A map; its descriptor. Keys are 32-bit indices; a ring has neither keys nor values.

    Raises:
        OSError: as everything here, with the kernel's errno.
    """
    return _bpf(_MAP_CREATE, struct.pack("=IIIII", kind, 0 if kind == RINGBUF else 4, value_size, entries, 0))


def put(fd: int, index: int, value: bytes) -> None:
    """Set one value of an array."""
    key, room = ctypes.c_uint32(index), ctypes.create_string_buffer(value, len(value))
    _bpf(_MAP_UPDATE, struct.pack("=I4xQQQ", fd, _address(key), _address(room), 0))


def get(fd: int, index: int, size: int) -> bytes:
    """One value of an array."""
    key, room = ctypes.c_uint32(index), ctypes.create_string_buffer(size)
    _bpf(_MAP_LOOKUP, struct.pack("=I4xQQQ", fd, _address(key), _address(room), 0))
    return room.raw


def attach(code: bytes, point: bytes) -> tuple[int, int]:
    """Load a program and let it run at a raw trace point; descriptors of both, the second ends it when closed."""
    name = ctypes.create_string_buffer(point)
    program = _load(code)
    try:
        return program, _bpf(_RAW_TRACEPOINT_OPEN, struct.pack("=QI4x", _address(name), program))
    except OSError:
        os.close(program)
        raise


def _load(code: bytes) -> int:
    instructions, licence = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(_LICENCE)
    head = struct.pack("=IIQQ", _RAW_TRACEPOINT, len(code) // 8, _address(instructions), _address(licence))
    try:
        return _bpf(_PROG_LOAD, head)
    except OSError as error:  # ask again, for the verifier's words alone: a log that is cut is an error of its own
        log = ctypes.create_string_buffer(_LOG)
        try:
            os.close(_bpf(_PROG_LOAD, head + struct.pack("=IIQ", 1, _LOG, _address(log))))
        except OSError:
            said = log.value.decode("utf-8", "replace").strip().splitlines()
            raise OSError(error.errno, f"{error.strerror}{f' ({said[-1]})' if said else ''}") from error
        raise


class Ring:
    """The reader's end of a ring map."""

    def __init__(self, fd: int, size: int) -> None:
        self._mask = size - 1
        self._consumer = mmap.mmap(fd, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        self._producer = mmap.mmap(fd, mmap.PAGESIZE + 2 * size, mmap.MAP_SHARED, mmap.PROT_READ, offset=mmap.PAGESIZE)
        self._at = 0

    def read(self) -> Iterator[bytes]:
        """The records that are complete; room is given back after each few."""
        (end,) = struct.unpack_from("=Q", self._producer, 0)
        taken = 0
        while self._at < end:
            start = mmap.PAGESIZE + (self._at & self._mask)
            (head,) = struct.unpack_from("=I", self._producer, start)
            if head & 0x80000000:
                break  # still being written
            size = head & 0x3FFFFFFF
            if not head & 0x40000000:
                yield self._producer[start + 8 : start + 8 + size]
            self._at += (size + 8 + 7) & ~7
            taken += 1
            if taken % 64 == 0:
                struct.pack_into("=Q", self._consumer, 0, self._at)
        struct.pack_into("=Q", self._consumer, 0, self._at)

    def close(self) -> None:
        """No more reading."""
        self._consumer.close()
        self._producer.close()
