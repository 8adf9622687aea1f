"""Segments as files."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from slabstore.errors import SlabError
from slabstore.record import Record, decode, encode

SUFFIX, LEFTOVER = ".slab", ".slab.tmp"
HEADERS = {"#slab 1": 1, "#slab 2": 2}


@dataclass
class Segment:
    """A segment in memory."""

    path: Path
    version: int = 2
    records: list[Record] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Its number."""
        return int(self.path.name.removesuffix(SUFFIX))


def segment_path(folder: Path, number: int) -> Path:
    """Where a segment lies."""
    return folder / f"{number:04d}{SUFFIX}"


def load_all(folder: Path) -> list[Segment]:
    """Every segment, oldest first."""
    return [load(path) for path in sorted(folder.glob("[0-9]*" + SUFFIX))]


def load(path: Path) -> Segment:
    """Read a segment."""
    header, *lines = _text(path.read_bytes()).split("\n")
    if header not in HEADERS:
        raise SlabError(f"{path}: unknown header")
    segment = Segment(path, HEADERS[header])
    for line in lines:
        record = decode(line, segment.version) if line else None
        if record is None:
            break
        segment.records.append(record)
    return segment


def _text(data: bytes) -> str:
    """What isn't UTF-8 was never written by us; its checksum will not fit."""
    return data.decode("utf-8", "replace")


def create(path: Path, records: list[Record]) -> Segment:
    """Write a segment: all of it is there, or nothing."""
    beside = path.with_name(path.name + ".tmp")
    with beside.open("w", encoding="utf-8", newline="") as file:
        file.write("#slab 2\n" + "".join(encode(record) + "\n" for record in records))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return Segment(path, 2, list(records))


def append(segment: Segment, record: Record) -> None:
    """Write a record behind the others."""
    with segment.path.open("a", encoding="utf-8", newline="") as file:
        file.write(encode(record) + "\n")
    segment.records.append(record)
