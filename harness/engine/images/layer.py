"""An image layer as one exact stream of bytes.

The tar is written here rather than by a library, since its bytes are the image's identity: USTAR headers, a PAX record
only for a path or link that does not fit, names sorted as bytes, numeric owners, times clamped, no extended attributes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

BLOCK = 512


class Kind(StrEnum):
    """What an entry is, as the tar type flag. Layers hold nothing else: no devices, no sockets, no pipes."""

    FILE = "0"
    HARDLINK = "1"
    SYMLINK = "2"
    FOLDER = "5"


@dataclass(frozen=True)
class Entry:
    """One path of a layer. ``name`` has no leading or trailing slash; ``mtime`` in seconds; ``size`` in bytes."""

    name: str
    kind: Kind
    mode: int
    uid: int = 0
    gid: int = 0
    mtime: int = 0
    target: str = ""
    size: int = 0
    read: Callable[[], bytes] = bytes


def text_file(name: str, text: str, mtime: int, mode: int = 0o644, gid: int = 0) -> Entry:
    """A small file of root's."""
    data = text.encode()
    return Entry(name=name, kind=Kind.FILE, mode=mode, gid=gid, mtime=mtime, size=len(data), read=lambda: data)


def folder(name: str, mtime: int, *, mode: int = 0o755, uid: int = 0, gid: int = 0) -> Entry:
    """An empty folder."""
    return Entry(name=name, kind=Kind.FOLDER, mode=mode, uid=uid, gid=gid, mtime=mtime)


def slice_of(path: Path, offset: int, size: int) -> bytes:
    """Part of a file, in bytes: how an entry reads its content out of another tar."""
    with path.open("rb") as handle:
        handle.seek(offset)
        return handle.read(size)


def write_layer(entries: Iterable[Entry], out: BinaryIO) -> str:
    """Write *entries* as a layer and return its diff id (the digest of the uncompressed tar).

    A later entry of the same name replaces an earlier one.
    """
    chosen = {entry.name: entry for entry in entries}
    hasher = hashlib.sha256()

    def emit(data: bytes) -> None:
        hasher.update(data)
        out.write(data)

    for name in sorted(chosen, key=_raw):
        entry = chosen[name]
        emit(_headers(entry))
        if entry.kind is Kind.FILE:
            data = entry.read()
            if len(data) != entry.size:
                raise ValueError(f"{name}: {len(data)} bytes where {entry.size} were announced")
            emit(data + bytes(-len(data) % BLOCK))
    emit(bytes(2 * BLOCK))
    return "sha256:" + hasher.hexdigest()


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _headers(entry: Entry) -> bytes:
    name = _raw(entry.name) + (b"/" if entry.kind is Kind.FOLDER else b"")
    target = _raw(entry.target)
    records = b""
    if len(name) > 100:
        records += _pax(b"path", name)
    if len(target) > 100:
        records += _pax(b"linkpath", target)
    head = _header(entry, name[:100], target[:100])
    if not records:
        return head
    extension = Entry("PaxHeader", Kind.FILE, 0o644, mtime=entry.mtime, size=len(records))
    return _header(extension, b"PaxHeader", b"", flag=b"x") + records + bytes(-len(records) % BLOCK) + head


def _pax(key: bytes, value: bytes) -> bytes:
    """One PAX record: its own decimal length, the length's digits included, then ``key=value``."""
    body = b" " + key + b"=" + value + b"\n"
    length = len(body)
    while len(body) + len(str(length)) != length:
        length = len(body) + len(str(length))
    return str(length).encode() + body


def _header(entry: Entry, name: bytes, target: bytes, flag: bytes | None = None) -> bytes:
    size = entry.size if entry.kind is Kind.FILE else 0
    block = b"".join(
        (
            name.ljust(100, b"\0"),
            b"%07o\0%07o\0%07o\0" % (entry.mode, entry.uid, entry.gid),
            b"%011o\0%011o\0" % (size, entry.mtime),
            b" " * 8,
            flag or entry.kind.value.encode(),
            target.ljust(100, b"\0"),
            b"ustar\x0000",
            bytes(64),  # no user or group names: owners are numbers
            b"%07o\0%07o\0" % (0, 0),
            bytes(155 + 12),
        )
    )
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]
