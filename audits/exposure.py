"""Canaries, nonces and honeytokens in what an attempt left: where each was first seen, and what that says.

A nonce was made for one grading: seen anywhere, it proves access. An exposure canary stands in all hidden material: a
model that was shown it had access (or was handed it by its harness), one that says it unasked was trained on it. A
decoy's token holds no answer: it proves that somebody looked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from audits.needles import Needle, Scanner
from audits.records import Axis, Citation, Fact, Kind, Source
from audits.streams import texts_of
from audits.verdict import Notebook, short

_MARGIN = 4096


@dataclass
class Sightings:
    """Where one secret was seen: what was shown to the model and what it said in the order of the trace."""

    shown: list[Citation] = field(default_factory=list)
    said: list[Citation] = field(default_factory=list)
    first: str = ""
    """``shown`` or ``said``: which came first; empty if neither."""
    opening: bool = False
    """Whether it was in the very first request: nobody but the harness can have put it there."""
    changed: list[Citation] = field(default_factory=list)
    """In the change."""
    told: list[Citation] = field(default_factory=list)
    """In what the solver printed, or in its own log, where nobody can say who said it."""


class Search:
    """Takes the bytes of an attempt in order, and says in the end what its secrets' sightings mean."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._needles = needles
        self.seen: dict[Needle, Sightings] = {}
        self._before = b""
        self._requests = 0

    def sent(self, seq: int, body: bytes) -> None:
        """What a request carried. Requests repeat what the last one held; only what is new is searched."""
        if not self._needles:
            return
        for needle in self._found([fresh(self._before, body)]):
            sighting = self._sighting(needle)
            sighting.opening |= self._requests == 0
            sighting.first = sighting.first or "shown"
            sighting.shown.append(Citation(source=Source.WEB, seq=seq, at="sent"))
        self._before = body
        self._requests += 1

    def received(self, seq: int, body: bytes) -> None:
        """What an answer carried, its pieces joined."""
        if not self._needles:
            return
        for needle in self._found([body], texts_of(body)):
            sighting = self._sighting(needle)
            sighting.first = sighting.first or "said"
            sighting.said.append(Citation(source=Source.WEB, seq=seq, at="received"))

    def changed(self, path: str, content: bytes) -> None:
        """A file of the change, or its name."""
        for needle in self._found([content], [path.encode("utf-8", "replace")]):
            line = _line_of(content, needle)
            self._sighting(needle).changed.append(Citation(source=Source.PATCH, seq=line, at=short(path)))

    def told(self, source: Source, at: str, pieces: Iterable[bytes]) -> None:
        """What the solver printed, or wrote down of itself."""
        for needle in self._found(pieces):
            self._sighting(needle).told.append(Citation(source=source, at=at))

    def conclude(self, book: Notebook, *, watched: bool) -> tuple[Citation, ...]:
        """Note what was seen; returns where a model gave back what it had not been shown.

        *watched* says whether all that the model was shown is known.
        """
        recalled: list[Citation] = []
        for needle, seen in self.seen.items():
            match needle.kind:
                case Kind.HONEYTOKEN:
                    for one in (*seen.shown, *seen.said, *seen.changed, *seen.told):
                        book.add(Axis.FILESYSTEM, Kind.HONEYTOKEN, Fact.EMPTY, f"token of {needle.name}", one)
                case Kind.NONCE:
                    _exposed(book, needle, seen, (*seen.shown, *seen.said, *seen.told))
                case _:
                    recalled += self._canary(book, needle, seen, watched=watched)
        return tuple(recalled[:8])

    def _canary(self, book: Notebook, needle: Needle, seen: Sightings, *, watched: bool) -> Iterable[Citation]:
        if seen.first == "shown":
            _exposed(book, needle, seen, tuple(seen.shown))
            return ()
        if seen.first == "said" or watched:
            where = (*seen.said, *seen.changed, *seen.told)
            for one in where:
                detail = f"{needle.name}: given back, though it had not been shown"
                book.add(Axis.FILESYSTEM, needle.kind, Fact.FLAG, detail, one)
            return where
        for one in (*seen.changed, *seen.told):
            detail = f"{needle.name}: training or access, undecided"
            book.add(Axis.FILESYSTEM, needle.kind, Fact.EXPOSURE, detail, one)
        return ()

    def _sighting(self, needle: Needle) -> Sightings:
        return self.seen.setdefault(needle, Sightings())

    def _found(self, raw: Iterable[bytes], joined: Iterable[bytes] = ()) -> list[Needle]:
        if not self._needles:
            return []
        found: dict[Needle, None] = {}
        scanner = Scanner(self._needles)
        for piece in raw:
            for start in range(0, len(piece), 1 << 20):
                scanner.feed(piece[start : start + (1 << 20)])
        found.update(dict.fromkeys(scanner.close()))
        for text in joined:
            if len(text) >= 12:
                again = Scanner(self._needles)
                again.feed(text)
                found.update(dict.fromkeys(again.close()))
        return list(found)


def _exposed(book: Notebook, needle: Needle, seen: Sightings, where: tuple[Citation, ...]) -> None:
    if seen.opening:
        detail = f"{needle.name} in the first request"
        book.add(Axis.SUBMITTER, Kind.HARNESS_LEAK, Fact.EXPOSURE, detail, seen.shown[0])
    for one in where:
        book.add(Axis.FILESYSTEM, needle.kind, Fact.EXPOSURE, f"{needle.name} before the model", one)
    for one in seen.changed:
        book.add(Axis.FILESYSTEM, needle.kind, Fact.USE, f"{needle.name} in the change", one)


def _line_of(content: bytes, needle: Needle) -> int:
    place = content.find(needle.secret.encode())
    return content.count(b"\n", 0, place) + 1 if place >= 0 else 0


def fresh(before: bytes, body: bytes) -> bytes:
    """What *body* has that *before* had not, with some of what is around it."""
    start, end = _common(before, body), _common(before[::-1], body[::-1])
    start, end = max(0, start - _MARGIN), max(0, end - _MARGIN)
    return body[start : max(start, len(body) - end)]


def _common(one: bytes, other: bytes) -> int:
    """How many bytes two begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
