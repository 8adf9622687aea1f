"""The kernel's part of the tracer of failed calls: a program of some ninety instructions, as bytes.

It runs at the end of every system call of the host and is done after a few instructions with all but those that failed
in one pid namespace. It changes nothing and can't be seen or ended from inside: it is no debugger, so debuggers work
there, and it needs nothing of the process, so no privilege is lost or won.

What it passes on, in the machine's order: call number and result (64 bits each), nanoseconds (monotonic), pid above
thread, name (16 bytes), the six arguments, then the path or address as the call named it.
"""

from __future__ import annotations

import struct

PATH_MAX = 4096
HEAD = struct.Struct("=QqQQ16s6Q")
SCRATCH = HEAD.size + PATH_MAX
"""Bytes a core in which a record is put together."""

DI, SI, DX, R8, NUMBERS = 1, 2, 3, 4, 5
"""Where a call's name is: the path in that argument, or nowhere, since the numbers tell."""
ADDRESS, SUCCESS = 0x10, 0x20
"""In SI or R8 is an address, its length in the next argument; a call that gave 0 is told of too."""

LOST, FOREIGN = 0, 1

_WHERE, _PLACE = 0xF, HEAD.size
_ARGS = (112, 104, 96, 56, 72, 64)
"""Offsets in ``struct pt_regs`` of x86_64: di, si, dx, r10, r8, r9."""
_REGS, _NUMBER, _SEGMENT, _USER_64 = 168, 120, 136, 0x33
_KEY, _NS = -_REGS - 8, -_REGS - 16
"""Places on the stack, below a copy of the registers."""
_ADDRESS_MAX = 128

_LOOKUP, _KTIME, _PID_TGID, _COMM, _READ_USER, _READ_KERNEL, _READ_USER_STR, _NS_PID, _RING = (
    *(1, 5, 14, 16, 112, 113, 114),
    *(120, 130),
)
_NO_WAKEUP = 1


class _Code:
    """Instructions and labels, in the kernel's encoding."""

    def __init__(self) -> None:
        self._code: list[tuple[int, int, int, int, int]] = []
        self._labels: dict[str, int] = {}
        self._jumps: dict[int, str] = {}

    def add(self, code: int, dst: int = 0, src: int = 0, off: int = 0, imm: int = 0) -> None:
        self._code.append((code, dst, src, off, imm))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._code)

    def move(self, dst: int, src: int, plus: int = 0) -> None:
        self.add(0xBF, dst, src)
        if plus:
            self.add(0x07, dst, imm=plus)

    def set(self, dst: int, value: int) -> None:
        self.add(0xB7, dst, imm=value)

    def wide(self, dst: int, value: int, *, map_fd: bool = False) -> None:
        self.add(0x18, dst, 1 if map_fd else 0, 0, value & 0xFFFFFFFF)
        self.add(0, imm=value >> 32)

    def load(self, dst: int, src: int, off: int) -> None:
        self.add(0x79, dst, src, off)

    def store(self, dst: int, off: int, src: int) -> None:
        self.add(0x7B, dst, src, off)

    def call(self, helper: int) -> None:
        self.add(0x85, imm=helper)

    def jump(self, code: int, dst: int, value: int, to: str) -> None:
        self._jumps[len(self._code)] = to
        self.add(code, dst, imm=value)

    def masked(self, dst: int, src: int, mask: int) -> None:
        self.move(dst, src)
        self.add(0x57, dst, imm=mask)

    def bytes(self) -> bytes:
        out = bytearray()
        for index, (code, dst, src, off, imm) in enumerate(self._code):
            jump = self._jumps.get(index)
            away = off if jump is None else self._labels[jump] - index - 1
            out += struct.pack("<BBhI", code, src << 4 | dst, away, imm & 0xFFFFFFFF)
        return bytes(out)


_ALWAYS, _EQUAL, _OVER, _NOT, _SIGNED_OVER, _AT_MOST = 0x05, 0x15, 0x25, 0x55, 0x65, 0xB5


def program(*, table: int, scratch: int, ring: int, lost: int, namespace: tuple[int, int]) -> bytes:
    """The instructions.

    Args:
        table: an array of 32-bit words by call number: where the name is, and the two flags; 0 to ignore the call.
        scratch: a per-core array of one value of :data:`SCRATCH` bytes.
        ring: where records go.
        lost: an array of two 64-bit counts: :data:`LOST` of records for which the ring had no room, :data:`FOREIGN` of
            failed calls of 32-bit programs, which are not read.
        namespace: device and inode of the pid namespace, the device as the kernel numbers it.
    """
    c = _Code()
    _sift(c, table, namespace)
    _note(c, scratch)
    _name(c)
    _send(c, ring, lost)
    c.label("foreign")
    _inside_only(c, namespace)
    _add_one(c, lost, FOREIGN)
    c.label("out")
    c.set(0, 0)
    c.add(0x95)
    return c.bytes()


def _sift(c: _Code, table: int, namespace: tuple[int, int]) -> None:
    """Be done with all that is not to be told. Leaves the result in r6, the number in r8, the table's word in r9."""
    c.load(6, 1, 8)
    c.load(7, 1, 0)
    c.jump(_SIGNED_OVER, 6, 0, "out")
    c.move(1, 10, -_REGS)
    c.set(2, _REGS)
    c.move(3, 7)
    c.call(_READ_KERNEL)
    c.jump(_NOT, 0, 0, "out")
    c.add(0x69, 1, 10, _SEGMENT - _REGS)
    c.jump(_NOT, 1, _USER_64, "foreign")  # 32-bit programs number their calls otherwise
    c.load(8, 10, _NUMBER - _REGS)
    c.add(0x63, 10, 8, _KEY)
    c.wide(1, table, map_fd=True)
    c.move(2, 10, _KEY)
    c.call(_LOOKUP)
    c.jump(_EQUAL, 0, 0, "out")
    c.add(0x61, 9, 0, 0)
    c.jump(_EQUAL, 9, 0, "out")
    c.jump(_NOT, 6, 0, "failed")
    c.masked(1, 9, SUCCESS)
    c.jump(_EQUAL, 1, 0, "out")
    c.label("failed")
    _inside_only(c, namespace)


def _note(c: _Code, scratch: int) -> None:
    """Put the head of the record together, in the scratch space, which r7 then points to."""
    _lookup_only(c, scratch, 0)
    c.move(7, 0)
    c.store(7, 0, 8)
    c.store(7, 8, 6)
    c.call(_KTIME)
    c.store(7, 16, 0)
    c.call(_PID_TGID)
    c.store(7, 24, 0)
    c.move(1, 7, 32)
    c.set(2, 16)
    c.call(_COMM)
    for index, off in enumerate(_ARGS):
        c.load(1, 10, off - _REGS)
        c.store(7, 48 + 8 * index, 1)


def _name(c: _Code) -> None:
    """Add what the call named; r8 is its length, 0 where there is none or it can't be read."""
    c.set(8, 0)
    c.masked(1, 9, _WHERE)
    c.jump(_EQUAL, 1, NUMBERS, "send")
    for index, where in ((0, DI), (1, SI), (2, DX)):
        c.load(3, 7, 48 + 8 * index)
        c.jump(_EQUAL, 1, where, "named")
    c.load(3, 7, 48 + 8 * 4)
    c.label("named")
    c.masked(1, 9, ADDRESS)
    c.jump(_NOT, 1, 0, "address")
    c.move(1, 7, _PLACE)
    c.set(2, PATH_MAX)
    c.call(_READ_USER_STR)
    c.move(8, 0)
    c.jump(_AT_MOST, 8, PATH_MAX, "send")
    c.set(8, 0)  # unsigned, an error is large
    c.jump(_ALWAYS, 0, 0, "send")
    c.label("address")
    c.load(8, 7, 48 + 8 * 2)
    c.masked(1, 9, _WHERE)
    c.jump(_EQUAL, 1, SI, "length")
    c.load(8, 7, 48 + 8 * 5)
    c.label("length")
    c.jump(_AT_MOST, 8, _ADDRESS_MAX, "short")
    c.set(8, _ADDRESS_MAX)
    c.label("short")
    c.move(1, 7, _PLACE)
    c.move(2, 8)
    c.call(_READ_USER)
    c.jump(_EQUAL, 0, 0, "send")
    c.set(8, 0)


def _send(c: _Code, ring: int, lost: int) -> None:
    """Hand the record over, or count that there was no room."""
    c.label("send")
    c.wide(1, ring, map_fd=True)
    c.move(2, 7)
    c.move(3, 8, HEAD.size)
    c.set(4, _NO_WAKEUP)
    c.call(_RING)
    c.jump(_EQUAL, 0, 0, "out")
    _add_one(c, lost, LOST)
    c.jump(_ALWAYS, 0, 0, "out")


def _inside_only(c: _Code, namespace: tuple[int, int]) -> None:
    """Be done with processes of other namespaces."""
    c.wide(1, namespace[0])
    c.wide(2, namespace[1])
    c.move(3, 10, _NS)
    c.set(4, 8)
    c.call(_NS_PID)
    c.jump(_NOT, 0, 0, "out")


def _add_one(c: _Code, map_fd: int, index: int) -> None:
    _lookup_only(c, map_fd, index)
    c.set(1, 1)
    c.add(0xDB, 0, 1, 0)


def _lookup_only(c: _Code, map_fd: int, index: int) -> None:
    """r0: a value of an array."""
    c.add(0x62, 10, off=_KEY, imm=index)
    c.wide(1, map_fd, map_fd=True)
    c.move(2, 10, _KEY)
    c.call(_LOOKUP)
    c.jump(_EQUAL, 0, 0, "out")
