"""Secrets looked for in any bytes, also encoded: plain, hex, base64, reversed, URL- or JSON-escaped, spread over
separators.

A secret is lower-case hexadecimal text of 24 digits or more: canaries, nonces and honeytokens all are. Bytes stream
through, in pieces of any size; memory is a few kilobytes a secret.

Two views of the stream are searched. One keeps hexadecimal digits alone, so that quotes, spaces, line breaks, ``\\x``
and ``+`` between the parts of a secret hide nothing. The other keeps the alphabet of base64 alone. Where there are
escapes (``%41``, ``\\u0041``, ``&#65;``, ``\\101``), both are also made of the text with those undone, three layers
deep.
"""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from audits.records import Kind

MIN_DIGITS = 24
_LAYERS = 3
_HEX = b"0123456789abcdef"
_B64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_LOWER = bytes(range(256)).lower()
_NOT_HEX = bytes(set(range(256)) - set(_HEX) - set(b"ABCDEF"))
_STANDARD = bytes.maketrans(b"-_", b"+/")
_NOT_B64 = bytes(set(range(256)) - set(_B64) - set(b"-_"))
_LINE_ESCAPES = (b"\\n", b"\\r", b"\\t")
_ESCAPES = tuple(
    (re.compile(pattern), base)
    for pattern, base in (
        (rb"%([0-9A-Fa-f]{2})", 16),
        (rb"\\u(?:00|\{0*)([0-9A-Fa-f]{2})\}?", 16),
        (rb"\\([01][0-7]{2})", 8),
        (rb"&#[xX]0*([0-9A-Fa-f]{2});?", 16),
        (rb"&#0*([0-9]{2,3});?", 10),
    )
)
"""Each begins with a literal, which is found quickly; what hides a line break is not undone here."""
_LONGEST = 12
"""Bytes of the longest escape, a run of backslashes before it apart."""
_PAST = 4096


@dataclass(frozen=True)
class Needle:
    """A secret, and what it is. ``name`` says which one, for a reader."""

    kind: Kind
    name: str
    secret: str

    def __post_init__(self) -> None:
        if not re.fullmatch(rf"[0-9a-f]{{{MIN_DIGITS},}}", self.secret):
            raise ValueError("a secret is lower-case hexadecimal text of 24 digits or more")


@dataclass(frozen=True)
class Hit:
    """A secret that was found: which, about where (a byte offset of the piece), and in what form."""

    needle: Needle
    offset: int
    form: str


def digits_of(canary: str) -> str:
    """The part of a canary that is its own: the hexadecimal digits at its end."""
    found = re.search(r"[0-9a-f]{24,}$", canary)
    return found[0] if found else ""


class Scanner:
    """Looks for secrets in one stream; the first place of each is kept."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        self._layers = [_Layer(*_forms(tuple(needles))) for _ in range(_LAYERS + 1)] if needles else []
        self.hits: dict[Needle, Hit] = {}
        self._offset = 0

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        size = len(piece)
        self._pass_on(piece, last=False)
        self._offset += size

    def _pass_on(self, piece: bytes, *, last: bool) -> None:
        for depth, layer in enumerate(self._layers):
            for needle, form in layer.look(piece):
                if needle not in self.hits:
                    self.hits[needle] = Hit(needle, self._offset, form if depth == 0 else f"{form}, escaped")
            if depth == _LAYERS:
                break
            undone = layer.undo(piece, last=last)
            if undone is None:
                break
            piece = undone

    def close(self) -> dict[Needle, Hit]:
        """No more bytes: what was found."""
        self._pass_on(b"", last=True)
        return self.hits


def scan(data: bytes | Iterable[bytes], needles: Sequence[Needle]) -> dict[Needle, Hit]:
    """What is found in bytes, or in a stream of them."""
    scanner = Scanner(needles)
    for piece in _pieces(data) if isinstance(data, bytes) else data:
        scanner.feed(piece)
    return scanner.close()


def _pieces(data: bytes, size: int = 1 << 20) -> Iterator[bytes]:
    view = memoryview(data)
    for start in range(0, len(data), size):
        yield bytes(view[start : start + size])


class _Forms:
    """Forms of secrets that are looked for in one kind of view, any number of them at the price of one.

    A view is read as words of eight bytes; whatever form of 15 bytes or more lies in it fills one of them.
    """

    def __init__(self, forms: Iterable[tuple[bytes, str, Needle]]) -> None:
        self.forms = tuple(forms)
        self.keep = max(len(form) for form, _, _ in self.forms) - 1
        self._words = {
            int.from_bytes(form[at : at + 8], sys.byteorder) for form, _, _ in self.forms for at in range(len(form) - 7)
        }

    def within(self, view: bytes) -> Iterator[tuple[Needle, str]]:
        """The secrets of which a form is in the view."""
        words = memoryview(view + bytes(-len(view) % 8)).cast("Q")
        if not self._words.isdisjoint(words):
            yield from ((needle, name) for form, name, needle in self.forms if form in view)


@lru_cache(maxsize=16)
def _forms(needles: tuple[Needle, ...]) -> tuple[_Forms, _Forms]:
    """The forms of secrets in either view; the streams of one attempt are searched for the same ones."""
    hexes = _Forms((form, name, one) for one in needles for name, form in _hex_forms(one.secret))
    b64s = _Forms((form, name, one) for one in needles for name, form in _b64_forms(one.secret))
    return hexes, b64s


class _Layer:
    """The two views of one layer of the stream, with as much of their ends as a secret may straddle."""

    def __init__(self, hexes: _Forms, b64s: _Forms) -> None:
        self._hexes, self._b64s = hexes, b64s
        self._hex_tail = self._b64_tail = b""
        self._slash = b""
        self._held = b""
        self._escaping = False

    def look(self, piece: bytes) -> Iterator[tuple[Needle, str]]:
        """The secrets in the views that this piece goes on with."""
        digits = self._hex_tail + piece.translate(_LOWER, _NOT_HEX)
        self._hex_tail = digits[-self._hexes.keep :]
        yield from self._hexes.within(digits)
        text = self._slash + piece
        self._slash = b"\\" if text.endswith(b"\\") else b""
        if b"\\" in text:
            for mark in _LINE_ESCAPES:
                text = text.replace(mark, b"")
        letters = self._b64_tail + text.translate(_STANDARD, _NOT_B64)
        self._b64_tail = letters[-self._b64s.keep :]
        yield from self._b64s.within(letters)

    def undo(self, piece: bytes, *, last: bool = False) -> bytes | None:
        """The piece with one layer of escapes undone; None while there has been none in the whole stream.

        The end of a piece is held back as far as it may be the beginning of an escape, until the *last*.
        """
        text = self._held + piece
        used = [one for one in _ESCAPES if one[0].search(text)]
        if not used and not self._escaping:
            self._held = text[-_PAST:]  # what follows may be escaped while this half of a secret is not
            return None
        self._escaping = True
        end = len(text)
        cut = max(text.rfind(mark, max(0, end - _LONGEST)) for mark in (b"%", b"\\", b"&"))
        if cut >= 0 and not last:
            end = cut
            while end > max(0, len(text) - _PAST) and text[end - 1 : end] == b"\\":
                end -= 1
        text, self._held = text[:end], text[end:]
        for pattern, base in used:
            text = pattern.sub(_Plain(base), text)
        return text


class _Plain:
    """What an escape stands for, in its base."""

    def __init__(self, base: int) -> None:
        self._base = base

    def __call__(self, found: re.Match[bytes]) -> bytes:
        return bytes([int(found[1], self._base) & 0xFF])


def _hex_forms(secret: str) -> Iterator[tuple[str, bytes]]:
    """What to look for among hexadecimal digits, in lower case."""
    plain = secret.encode()
    yield "plain", plain
    yield "reversed", plain[::-1]
    for name, text in (("hex", plain), ("hex of capitals", plain.upper()), ("hex of reversed", plain[::-1])):
        yield name, text.hex().encode()
        yield f"{name}, reversed", text.hex().encode()[::-1]
    for form in _base64(plain):
        yield "hex of base64", form.hex().encode()


def _b64_forms(secret: str) -> Iterator[tuple[str, bytes]]:
    """What to look for among the letters of base64."""
    plain = secret.encode()
    for name, text in (
        ("base64", plain),
        ("base64 of capitals", plain.upper()),
        ("base64 of reversed", plain[::-1]),
        ("base64 of hex", plain.hex().encode()),
        ("base64 of bytes", bytes.fromhex(secret) if len(secret) % 2 == 0 else b""),
    ):
        for form in _base64(text):
            yield name, form
            yield f"{name}, reversed", form[::-1]
    for form in _base64(plain):
        for twice in _base64(form):
            yield "base64, twice", twice


def _base64(text: bytes) -> Iterator[bytes]:
    """The letters that a text gives wherever it lies among the three alignments, without those its neighbours share."""
    for shift in range(3) if text else ():
        letters = base64.b64encode(b"\0" * shift + text + b"\0" * 3)
        first, last = -(-8 * shift // 6), 8 * (shift + len(text)) // 6
        yield letters[first:last]
