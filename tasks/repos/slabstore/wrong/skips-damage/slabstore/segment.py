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
    whole: int | None = None
    """The file's length without a torn tail, as it was read."""

    @property
    def number(self) -> int:
        """Its number."""
        return _number(self.path)


def _number(path: Path) -> int:
    return int(path.name.removesuffix(SUFFIX))


def segment_path(folder: Path, number: int) -> Path:
    """Where a segment lies."""
    return folder / f"{number:04d}{SUFFIX}"


def load_all(folder: Path) -> list[Segment]:
    """Every segment, oldest first."""
    paths = sorted(folder.glob("[0-9]*" + SUFFIX), key=_number)
    return [load(path, active=path == paths[-1]) for path in paths]


def load(path: Path, *, active: bool) -> Segment:
    """Read a segment. The torn tail of an active one is not there; its length without is in ``whole``."""
    data = path.read_bytes()
    *lines, rest = data.split(b"\n")
    if rest and not active:
        raise SlabError(f"{path}: the last line has no end")
    if active and not lines and any(header.encode().startswith(rest) for header in HEADERS):
        return Segment(path, whole=0)
    segment = Segment(path, HEADERS.get(_text(lines[0]) if lines else None, 0))
    if not segment.version:
        raise SlabError(f"{path}: unknown header")
    segment.whole = len(data) - len(rest)
    for place, line in enumerate(lines[1:], start=2):
        record = decode(_text(line), segment.version)
        if record is not None:
            segment.records.append(record)
        elif active and not rest and place == len(lines):
            segment.whole -= len(line) + 1
        else:
            continue
    return segment


def mend(segment: Segment) -> None:
    """Cut the torn tail off the file."""
    if segment.whole == 0:
        create(segment.path, [])
    else:
        os.truncate(segment.path, segment.whole)


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
