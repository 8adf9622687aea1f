"""Stores over what is read only: a layout's blobs as a store, and a store whose writes go elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.errors import StorageError
from harness.oci.layout import Layout
from harness.records import BlobRef
from harness.store import Store

MAX_BLOB = 1 << 30
"""Bytes of one blob of evidence."""


class LayoutStore:
    """The blobs of a layout. Nothing can be kept in it."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def put(self, data: bytes, media_type: str) -> BlobRef:  # noqa: ARG002
        raise self._refusal()

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> BlobRef:  # noqa: ARG002
        raise self._refusal()

    def get(self, digest: str) -> bytes:
        return self._layout.read(digest, MAX_BLOB)

    def has(self, digest: str) -> bool:
        return self._layout.has(digest)

    def digests(self) -> Iterator[str]:
        yield from self._layout.digests()

    def delete(self, digest: str) -> int:  # noqa: ARG002
        raise self._refusal()

    def _refusal(self) -> StorageError:
        return StorageError(self._layout.where, "can't be written to", "this is a defect; please report it")


class Overlay:
    """What *below* holds, with whatever is kept from now on in *top*."""

    def __init__(self, top: Store, below: Store) -> None:
        self._top = top
        self._below = below

    def put(self, data: bytes, media_type: str) -> BlobRef:
        return self._top.put(data, media_type)

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> BlobRef:
        return self._top.put_stream(chunks, media_type)

    def get(self, digest: str) -> bytes:
        return (self._top if self._top.has(digest) else self._below).get(digest)

    def has(self, digest: str) -> bool:
        return self._top.has(digest) or self._below.has(digest)

    def digests(self) -> Iterator[str]:
        own = set(self._top.digests())
        yield from sorted(own)
        yield from (name for name in self._below.digests() if name not in own)

    def delete(self, digest: str) -> int:
        return self._top.delete(digest)
