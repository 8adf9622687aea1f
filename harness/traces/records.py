"""The lines of the two traces that the host's kernel gives: ``filesystem`` (fanotify) and ``denied`` (failed calls).

A trace is JSON lines in RFC 8785 form, chained as the web trace is: ``prev`` is the digest of the line before, without
its line break. The last line is an :class:`EndLine`; a trace without one was cut. Times are microseconds since the
epoch. A path is text as :func:`text_of` makes it, absolute as the solver saw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from harness.digest import Digest, loads, sha256_bytes
from harness.errors import VerifyError
from harness.records import Count, Microseconds, Record
from harness.traces.text import bytes_of, text_of

FILESYSTEM, DENIED = "filesystem", "denied"
"""The channels; their lines are :data:`FilesystemLine` and :data:`DeniedLine`."""
LINES_TYPE = "application/jsonl"


class Op(StrEnum):
    """What was done to a path, and succeeded."""

    OPEN = "open"
    """A file or a folder was opened; also that a program was loaded by the kernel."""
    EXEC = "exec"
    """It was opened to be executed."""
    CLOSE_WRITE = "close_write"
    """It was closed by somebody who could write it."""


class Call(StrEnum):
    """The calls whose failure is seen, by what they try; each stands for all its variants (``openat2`` is ``open``)."""

    OPEN = "open"
    STAT = "stat"
    READLINK = "readlink"
    EXEC = "exec"
    CHDIR = "chdir"
    CHANGE = "change"
    """Making, renaming, linking, removing a path, or changing its mode, owner or size."""
    CONNECT = "connect"
    """Also one that succeeded or is under way (errno ``0`` or ``EINPROGRESS``), and sending to an address."""
    SOCKET = "socket"
    """A kind of socket that can't be had; the target is ``family/type/protocol`` in numbers."""
    PTRACE = "ptrace"
    """Reaching into another process; the target is its pid, as the caller counts."""
    PRIVILEGE = "privilege"
    """What only an administrator may; the target is the call's name, such as ``unshare`` or ``mount``."""


class _Chained(Record):
    seq: Count
    prev: Digest | None

    @model_validator(mode="after")
    def _first_alone(self) -> Self:
        if (self.seq == 0) != (self.prev is None):
            raise ValueError("the first line, and it alone, has no line before it")
        return self


class MarkerLine(_Chained):
    """Proof that a mount was watched before the solver started: the harness touched it and saw the event."""

    kind: Literal["marker"] = "marker"
    path: str
    """Where the mount is; in the other channel, the path that the harness's failing call named."""
    at_us: Microseconds


class PathLine(_Chained):
    """All events of one kind on one path. ``count`` is a lower bound: the kernel merges equal events that wait."""

    kind: Literal["path"] = "path"
    path: str
    op: Op
    count: Annotated[int, Field(ge=1)]
    first_us: Microseconds
    last_us: Microseconds
    pid: Count
    """Of the first event, as the host counts."""
    command: str | None
    """The process's name as the first event was read, milliseconds after it; None if it had ended by then."""
    inside: bool
    """Whether the process was of the attempt's cgroup, or had ended: only the container's own processes reach its
    mounts, beside the harness and the engine, which are there when it starts a program."""


class CallLine(_Chained):
    """All calls of one kind with one target that ended in one error."""

    kind: Literal["call"] = "call"
    call: Call
    target: str
    """The path, or the address as ``unix:PATH``, ``HOST:PORT``, ``[HOST]:PORT`` or ``family N``. A relative path was
    completed if the process could still be asked for its folder, else it stands as given."""
    errno: Annotated[str, Field(pattern=r"^(0|E[A-Z0-9]+|[1-9][0-9]*)$")]
    """The error's name; ``0`` is success, which only ``connect`` tells."""
    count: Annotated[int, Field(ge=1)]
    first_us: Microseconds
    last_us: Microseconds
    pid: Count
    """Of the first, as the kernel's first pid namespace counts."""
    command: str | None


class OverflowLine(_Chained):
    """Events were lost; ``count`` times the kernel or the tracer said so. The trace is not whole."""

    kind: Literal["overflow"] = "overflow"
    count: Annotated[int, Field(ge=1)]
    reason: str
    at_us: Microseconds


class EndLine(_Chained):
    """The end: how many events were seen, and how often some were lost."""

    kind: Literal["end"] = "end"
    events: Count
    overflows: Count


FilesystemLine = Annotated[MarkerLine | PathLine | OverflowLine | EndLine, Field(discriminator="kind")]
DeniedLine = Annotated[MarkerLine | CallLine | OverflowLine | EndLine, Field(discriminator="kind")]
AnyLine = Annotated[MarkerLine | PathLine | CallLine | OverflowLine | EndLine, Field(discriminator="kind")]

_ANY: TypeAdapter[MarkerLine | PathLine | CallLine | OverflowLine | EndLine] = TypeAdapter(AnyLine)


def read_lines(raw: Iterable[bytes]) -> Iterator[MarkerLine | PathLine | CallLine | OverflowLine | EndLine]:
    """The lines of a trace, its chain checked as far as it is read.

    Raises:
        VerifyError: a line is none, its chain is broken, something follows the end, or there is no end.
    """
    last: str | None = None
    count, ended = 0, False
    for line in raw:
        body = line.rstrip(b"\n")
        try:
            record = _ANY.validate_python(loads(body))
        except ValueError as error:
            raise VerifyError(
                f"trace line {count + 1}", "is not a line of a trace", "take the run's own copy"
            ) from error
        if ended or record.seq != count or record.prev != last:
            raise VerifyError(f"trace line {count + 1}", "does not follow the line before", "take the run's own copy")
        last, count, ended = sha256_bytes(body), count + 1, isinstance(record, EndLine)
        yield record
    if not ended:
        raise VerifyError("trace", "ends without its last line", "what there is, is true; more is not known")


__all__ = [
    "DENIED",
    "FILESYSTEM",
    "LINES_TYPE",
    "AnyLine",
    "Call",
    "CallLine",
    "DeniedLine",
    "EndLine",
    "FilesystemLine",
    "MarkerLine",
    "Op",
    "OverflowLine",
    "PathLine",
    "bytes_of",
    "read_lines",
    "text_of",
]
