"""Secrets out of bytes that are about to be written down or handed to a solver, however the bytes are cut.

A secret is looked for as it is, in base64 (at each of the three places it may start at, both alphabets), and as URLs
and JSON escape it. One shorter than :data:`SHORTEST` is not looked for: it would be found everywhere.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from copy import copy
from urllib.parse import quote

SHORTEST = 8
MARK = b"[redacted]"


def forms(secret: str) -> frozenset[bytes]:
    """The byte strings by which a secret would show itself."""
    raw = secret.encode("utf-8", "replace")
    if len(raw) < SHORTEST:
        return frozenset()
    found = {raw, quote(secret, safe="").encode(), quote(secret).encode(), secret.replace("/", "\\/").encode()}
    for before in range(3):
        # Characters that hold bits of a neighbour are left off: they differ with what stands before and after.
        coded = base64.b64encode(b"\0" * before + raw)
        start = -(-before * 8 // 6)
        inner = coded[start : (before + len(raw)) * 8 // 6]
        found |= {inner, inner.translate(bytes.maketrans(b"+/", b"-_"))}
    return frozenset(found)


class Redactor:
    """Takes secrets out of a stream, or of whole bytes.

    A stream holds back only what may be the start of a secret, so that nothing else waits for the next chunk.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        found = {form for secret in secrets for form in forms(secret)}
        self._forms = sorted(found, key=len, reverse=True)
        self._longest = len(self._forms[0]) if self._forms else 0
        self._heads = {form[:4] for form in self._forms}
        self._stubs = tuple({form[:size] for form in self._forms for size in (1, 2, 3)})
        self._held = b""

    def fresh(self) -> Redactor:
        """Another one for the same secrets that has seen nothing yet."""
        other = copy(self)
        other._held = b""
        return other

    def feed(self, chunk: bytes) -> bytes:
        """What of the stream so far can be let go."""
        if not self._forms:
            return chunk
        data = self.whole(self._held + chunk if self._held else chunk)
        keep = self._tail(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep] if keep else data

    def close(self) -> bytes:
        """What was held back, at the stream's end."""
        held, self._held = self._held, b""
        return held

    def whole(self, data: bytes) -> bytes:
        """Bytes that stand alone, without their secrets."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, MARK)
        return data

    def _tail(self, data: bytes) -> int:
        """How many bytes at the end may be the start of a secret."""
        end = data[-(self._longest - 1) :]
        starts = [at for head in self._heads for at in _places(end, head)]
        starts += range(max(0, len(end) - 3), len(end)) if end.endswith(self._stubs) else ()
        for at in sorted(starts):
            rest = end[at:]
            if any(form.startswith(rest) for form in self._forms):
                return len(rest)
        return 0


def _places(data: bytes, wanted: bytes) -> Iterable[int]:
    at = data.find(wanted)
    while at >= 0:
        yield at
        at = data.find(wanted, at + 1)
