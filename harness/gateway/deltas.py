"""Bodies of a conversation, each as what it adds to an earlier one: room for N turns, not for their square.

A client sends its whole conversation with each request. A body is cut where JSON objects follow one another, and of a
piece that one of the last few bodies held already only its place is kept, whatever else moved or changed between them.
Such a blob is a line of JSON, the :class:`Recipe`, and after it the bytes that are new. :class:`Reader` puts a body
together again and checks it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from hashlib import blake2b
from typing import NamedTuple

from harness.digest import Digest, sha256_bytes
from harness.errors import VerifyError
from harness.records import BlobRef, Count, Record, from_json, to_json
from harness.store import LocalStore, Store

DELTA_TYPE = "application/vnd.trialbox.delta"
MAX_BODY = 8 * 1024 * 1024
"""Bytes of a body that is looked at; a larger one is kept whole."""
_MAX_WHOLE = 64 * 1024 * 1024
_BASES = 4
"""Agents put other questions between those of their conversation."""
_LEAST = 256
_END = b"},"

Pieces = list[tuple[bytes, int, int]]
"""A piece's digest, where it begins and how long it is."""


class Recipe(Record):
    """How to make a body: each step copies bytes of ``base`` by place and length, or takes so many new ones."""

    base: BlobRef
    digest: Digest
    """Of the whole."""
    size: Count
    steps: tuple[tuple[Count, Count] | tuple[Count], ...]


class _Base(NamedTuple):
    ref: BlobRef
    places: dict[bytes, tuple[int, int]]


class Deltas:
    """The bodies of one attempt, kept one after the other."""

    def __init__(self, store: LocalStore) -> None:
        self._store = store
        self._bases: deque[_Base] = deque(maxlen=_BASES)
        self._offered: _Base | None = None

    def keep(self, body: bytes, media_type: str) -> BlobRef:
        """Put a body into the store, as a delta where that is much smaller.

        Raises:
            StorageError: the disk refuses.
        """
        pieces = _cut(body)
        base = max(self._bases, key=lambda one: _held(one, pieces), default=None)
        delta = _delta(base, body, pieces) if base is not None and _held(base, pieces) else body
        small = len(delta) * 2 < len(body)
        ref = self._store.put(delta, DELTA_TYPE) if small else self._store.put(body, media_type)
        self._offered = _Base(ref, {name: (at, size) for name, at, size in pieces})
        return ref

    def written(self) -> None:
        """The line that names the body last kept is in the trace: later ones may build on it."""
        if self._offered is not None:
            self._bases.append(self._offered)
            self._offered = None


def _cut(body: bytes) -> Pieces:
    """The pieces of a body. Where two bodies have one end of a piece in common, the following ones are cut alike."""
    pieces: Pieces = []
    at = 0
    while at < len(body):
        found = body.find(_END, at + _LEAST)
        end = len(body) if found < 0 else found + len(_END)
        pieces.append((blake2b(body[at:end], digest_size=16).digest(), at, end - at))
        at = end
    return pieces


def _held(base: _Base, pieces: Pieces) -> int:
    return sum(size for name, _, size in pieces if name in base.places)


def _delta(base: _Base, body: bytes, pieces: Pieces) -> bytes:
    steps: list[list[int]] = []
    new: list[bytes] = []
    for name, at, size in pieces:
        place = base.places.get(name)
        last = steps[-1] if steps else []
        if place is None:
            new.append(body[at : at + size])
            if len(last) == 1:
                last[0] += size
            else:
                steps.append([size])
        elif len(last) == 2 and sum(last) == place[0]:
            last[1] += size
        else:
            steps.append(list(place))
    recipe = Recipe.model_validate(
        {"base": base.ref, "digest": sha256_bytes(body), "size": len(body), "steps": [tuple(step) for step in steps]}
    )
    return b"".join([to_json(recipe), b"\n", *new])


class Reader:
    """Bodies as they were, from a store. It remembers the last few, so that reading them in order is quick."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, bytes] = OrderedDict()

    def get(self, ref: BlobRef) -> bytes:
        """The body that a line of the trace names.

        Raises:
            VerifyError: it, or one that it builds on, is missing or damaged.
        """
        todo: list[tuple[str, Recipe, bytes]] = []
        while ref.digest not in self._known and ref.media_type == DELTA_TYPE:
            head, _, new = self._store.get(ref.digest).partition(b"\n")
            recipe = from_json(Recipe, head, f"blob {ref.digest}")
            todo.append((ref.digest, recipe, new))
            ref = recipe.base
        body = self._known.get(ref.digest)
        if body is None:
            body = self._store.get(ref.digest)
            self._remember(ref.digest, body)
        for digest, recipe, new in reversed(todo):
            body = _whole(digest, recipe, new, body)
            self._remember(digest, body)
        return body

    def _remember(self, digest: str, body: bytes) -> None:
        self._known[digest] = body
        self._known.move_to_end(digest)
        if len(self._known) > _BASES:
            self._known.popitem(last=False)


def _whole(digest: str, recipe: Recipe, new: bytes, base: bytes) -> bytes:
    """The body that a recipe makes, which can't be larger than any is."""
    if recipe.size > _MAX_WHOLE or sum(step[-1] for step in recipe.steps) != recipe.size:
        raise VerifyError(f"blob {digest}", "does not add up", "restore it from a copy or a bundle")
    parts: list[bytes] = []
    taken = 0
    for step in recipe.steps:
        if len(step) == 1:
            parts.append(new[taken : taken + step[0]])
            taken += step[0]
        else:
            parts.append(base[step[0] : sum(step)])
    body = b"".join(parts)
    if sha256_bytes(body) != recipe.digest:
        raise VerifyError(
            f"blob {digest}", "does not give the body that it is of", "restore it from a copy or a bundle"
        )
    return body
