"""A card's file read in pieces: a card of 100,000 attempts without holding them all.

Three lists make up nearly all of a large card: ``core.cells``, ``measured.cells`` and ``stamp.evidence``. Here they
stay bytes until somebody walks over them; all else is a :class:`Card` whose three lists are empty. The id and every
section's digest are checked over the bytes, which is as good as over the values: what is cut out for the id is a fixed
text, and a list's place is right exactly if its bytes have its section's digest.
"""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness.digest import canonical, loads
from harness.errors import InfraError, VerifyError
from scoring.card import Card, section_digests
from scoring.core import Core, CoreCell
from scoring.elements import REMEDY, elements
from scoring.evidence import TryEvidence
from scoring.measured import Measured, MeasuredCell
from scoring.planned import unplanned
from scoring.stamp import Stamp

LISTS = {"core": "cells", "measured": "cells", "stamp": "evidence"}
"""The list of each part that stays bytes."""
_PARTS: dict[str, type[BaseModel]] = {"core": Core, "measured": Measured, "stamp": Stamp}
ELEMENTS: dict[str, type[BaseModel]] = {"core": CoreCell, "measured": MeasuredCell, "stamp": TryEvidence}
"""What each of those lists holds."""
LEAST_PIECE = 1 << 10
_WINDOW = 1 << 20
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Piece:
    """Some elements of a part's list, from the bracket or comma before them to the one behind them."""

    part: str
    start: int
    end: int

    def values(self, data: bytes | mmap.mmap) -> Iterator[Any]:
        """Its elements, from the card's bytes. Raises as :func:`scoring.elements.elements`."""
        return elements(data, self.start, self.end, f"{self.part}.{LISTS[self.part]}")


@dataclass(frozen=True)
class CardFile:
    """A card whose digests agree. ``shell`` is all of it but the three lists, which are empty there."""

    shell: Card
    _data: bytes | mmap.mmap
    _spans: dict[str, tuple[int, int]]

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self._data)

    @property
    def short(self) -> bytes:
        """The file's bytes with the three lists emptied: the bytes of the shell, if it writes values as a card does."""
        cuts = [0, *(place for span in self._spans.values() for place in span), len(self._data)]
        return b"[]".join(self._data[start:end] for start, end in zip(cuts[::2], cuts[1::2], strict=True))

    def values(self, part: str) -> Iterator[Any]:
        """The elements of a part's list as plain values, each checked to be canonical.

        Raises:
            VerifyError: one is no canonical JSON.
        """
        return elements(self._data, *self._spans[part], f"{part}.{LISTS[part]}")

    def pieces(self, part: str, about: int) -> Iterator[Piece]:
        """A part's list in about so many pieces, cut between elements: what each of several processes can take.

        An element's first key is its first field by name; where that is in an element too, a piece is no JSON.
        """
        start, end = self._spans[part]
        size = max((end - start) // about, LEAST_PIECE)
        cut = b'},{"%s":' % min(ELEMENTS[part].model_fields).encode()
        while start < end:
            place = _find(self._data, cut, start + size, end)
            upto = end if place < 0 else place + 2
            yield Piece(part, start, upto)
            start = upto - 1 if upto < end else end

    def sampled(self, count: int) -> Card:
        """The card with at most so many of its measured cells, the first ones, and none of its other lists."""
        first = tuple(islice(self.measured_cells(), count))
        return self.shell.model_copy(update={"measured": self.shell.measured.model_copy(update={"cells": first})})

    def core_cells(self) -> Iterator[CoreCell]:
        """The planned cells' results, in planned order."""
        return (_model(CoreCell, one, "core.cells") for one in self.values("core"))

    def measured_cells(self) -> Iterator[MeasuredCell]:
        """What each planned cell took, in planned order."""
        return (_model(MeasuredCell, one, "measured.cells") for one in self.values("measured"))

    def evidence(self) -> Iterator[TryEvidence]:
        """Every try."""
        return (_model(TryEvidence, one, "stamp.evidence") for one in self.values("stamp"))

    def cells_of(self, task: str | None) -> Iterator[tuple[CoreCell, MeasuredCell]]:
        """A task's cells (None: all) with what they took, in planned order.

        Raises:
            VerifyError: the two lists are not of the same cells, or one holds what is no cell.
        """
        for core, measured in zip_longest(self.values("core"), self.values("measured")):
            try:
                if core["cell"] != measured["cell"]:
                    raise VerifyError("core.cells", "is not of the cells of measured.cells", REMEDY)
                wanted = task in {None, core["cell"]["task"]}
            except (KeyError, TypeError) as error:
                raise VerifyError("core.cells", "is not of the cells of measured.cells", REMEDY) from error
            if wanted:
                yield _model(CoreCell, core, "core.cells"), _model(MeasuredCell, measured, "measured.cells")

    def whole(self) -> Card:
        """The card with its lists: as much memory as it takes.

        Raises:
            VerifyError: a list holds what does not belong there, or the cells are not the planned ones.
        """
        core = self.shell.core.model_copy(update={"cells": tuple(self.core_cells())})
        measured = self.shell.measured.model_copy(update={"cells": tuple(self.measured_cells())})
        stamp = self.shell.stamp.model_copy(update={"evidence": tuple(self.evidence())})
        card = self.shell.model_copy(update={"core": core, "measured": measured, "stamp": stamp})
        odd = unplanned(card)
        if odd is not None:
            where, _, problem = odd.partition(": ")
            raise VerifyError(where, problem, REMEDY)
        return card


def open_card(path: Path, expected_id: str | None = None) -> CardFile:
    """The card in a file, which stays where it is while its lists are walked over.

    Raises:
        InfraError: the file can't be read.
        VerifyError: it is no card, or a digest on it does not agree.
    """
    try:
        with path.open("rb") as handle:
            data: bytes | mmap.mmap = (
                mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
            )
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error
    return read_card_file(data, path.name, expected_id)


def read_card_file(data: bytes | mmap.mmap, where: str, expected_id: str | None = None) -> CardFile:
    """The card in these bytes.

    Raises:
        VerifyError: it is no card, or a digest on it does not agree.
    """
    try:
        value, spans = _split(data)
        wrong = list(_digests(data, value, spans))
        if not wrong and expected_id not in {None, value["id"]}:
            wrong.append(f"id: this is card {value['id']}, not {expected_id}")
        if wrong:
            raise VerifyError(where, wrong[0], REMEDY)
        return CardFile(Card.model_validate(value), data, spans)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise VerifyError(
            where, f"is no card ({type(error).__name__}: {str(error).splitlines()[0]})", REMEDY
        ) from error


# ------------------------------------------------------------------------------------------ the file without its lists


def _split(data: bytes | mmap.mmap) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
    """The card's value with its lists emptied, and where in the file each list is, brackets included.

    Keys are in order on a canonical card, so that a part's list lies between two texts that can be in no string: a
    quote inside a string is escaped, and so is never preceded by a comma or a bracket.
    """
    spans: dict[str, tuple[int, int]] = {}
    kept: list[bytes] = []
    at = 0
    for part, name in LISTS.items():
        head = _find(data, b'"%s":{' % part.encode(), at)
        start = _find(data, b'"%s":[' % name.encode(), max(head, at)) + len(name) + 3
        end = _end(data, start, part)
        if min(head, start - len(name) - 3, end) < 0:
            raise ValueError(f"there is no {part}.{name}")
        kept += [data[at:start], b"[]"]
        spans[part] = (start, end)
        at = end
    kept.append(data[at:])
    short = b"".join(kept)
    value = loads(short)
    if canonical(value) != short:
        raise ValueError("it is not in canonical form")
    return value, spans


def _find(data: bytes | mmap.mmap, text: bytes, start: int = 0, end: int | None = None) -> int:
    """As ``find``, which of a mapped file is ten times slower than of bytes."""
    end = len(data) if end is None else end
    for at in range(start, end, _WINDOW):
        place = data[at : min(at + _WINDOW + len(text) - 1, end)].find(text)
        if place >= 0:
            return at + place
    return -1


def _end(data: bytes | mmap.mmap, start: int, part: str) -> int:
    """The place behind a list: before the next key of its part, whichever that is."""
    if data[start : start + 2] == b"[]":
        return start + 2
    later = sorted(name for name in _PARTS[part].model_fields if name > LISTS[part])
    best = len(data)
    for name in later:  # the nearest bounds the search for the others
        place = _find(data, b'}],"%s":' % name.encode(), start, best)
        best = best if place < 0 else place
    return best + 2 if best < len(data) else -1


def _model(kind: type[R], value: Any, where: str) -> R:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise VerifyError(where, f"holds what is no {kind.__name__}", REMEDY) from error


def _digests(data: bytes | mmap.mmap, value: dict[str, Any], spans: dict[str, tuple[int, int]]) -> Iterator[str]:
    """What on a card does not agree with its bytes."""
    sections = section_digests(value)
    for part, (start, end) in spans.items():
        sections[f"{part}.{LISTS[part]}"] = _sha256(data, [(start, end)])
    for name in sorted({*sections, *value["sections"]}):
        if sections.get(name) != value["sections"].get(name):
            yield f"{name}: was changed (its digest is now {sections.get(name, 'missing')})"
    core = _find(data, b'"core":{') + 7
    if _sha256(data, [(core, _find(data, b',"core_digest":"', spans["core"][1]))]) != value["core_digest"]:
        yield "core_digest: was changed"
    cut = b'"id":"%s",' % str(value["id"]).encode()
    place = _find(data, cut, spans["core"][1], spans["measured"][0])
    if place < 0 or _sha256(data, [(0, place), (place + len(cut), len(data))]) != value["id"]:
        yield "id: was changed, or the content was"


def _sha256(data: bytes | mmap.mmap, spans: list[tuple[int, int]]) -> str:
    hasher = hashlib.sha256()
    with memoryview(data) as view:
        for start, end in spans:
            hasher.update(view[start:end])
    return f"sha256:{hasher.hexdigest()}"
