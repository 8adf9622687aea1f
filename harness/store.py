"""Blobs by digest: a local folder by default, any fsspec URL otherwise.

A blob is written once, under a name that is its content's digest, and every read checks that it still is. The local
layout is ``sha256/<two hex>/<62 hex>``.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from harness.digest import sha256_bytes
from harness.errors import VerifyError
from harness.files import atomic_write, storage_error
from harness.records import BlobRef


class Store(Protocol):
    """Where evidence lives. All methods raise InfraError when the storage itself fails."""

    def put(self, data: bytes, media_type: str) -> BlobRef:
        """Keep *data* and return its reference; keeping the same bytes again is free."""

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> BlobRef:
        """Keep what *chunks* yields without holding it in memory."""

    def get(self, digest: str) -> bytes:
        """The bytes; VerifyError if absent or no longer matching the digest."""

    def has(self, digest: str) -> bool:
        """Whether a blob of this name is there (its content is not checked)."""

    def digests(self) -> Iterator[str]:
        """All names that are there."""

    def delete(self, digest: str) -> int:
        """Remove a blob; the bytes freed (0 if it was absent)."""


class LocalStore:
    """A store in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root / "sha256"

    def _path(self, digest: str) -> Path:
        name = digest.removeprefix("sha256:")
        return self.root / name[:2] / name[2:]

    def _name(self, digest: str) -> str:
        name = digest.removeprefix("sha256:")
        return f"{self.root}/{name[:2]}/{name[2:]}"

    def put(self, data: bytes, media_type: str) -> BlobRef:
        digest = sha256_bytes(data)
        path = self._path(digest)
        if not _intact(path, digest, len(data)):
            atomic_write(path, data)
        return BlobRef(digest=digest, size=len(data), media_type=media_type)

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> BlobRef:
        hasher = hashlib.sha256()
        size = 0
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            fd, temporary = tempfile.mkstemp(prefix=".stream.", suffix=".tmp", dir=self.root)
            try:
                with os.fdopen(fd, "wb") as handle:
                    for chunk in chunks:
                        hasher.update(chunk)
                        size += len(chunk)
                        handle.write(chunk)
                    handle.flush()
                    os.fsync(handle.fileno())
                digest = "sha256:" + hasher.hexdigest()
                path = self._path(digest)
                path.parent.mkdir(exist_ok=True)
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise storage_error(self.root, error) from error
        return BlobRef(digest=digest, size=size, media_type=media_type)

    def get(self, digest: str) -> bytes:
        path = self._name(digest)
        try:
            with open(path, "rb", buffering=0) as handle:  # noqa: PTH123 - a path object costs as much as reading
                data = handle.readall()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise _missing(digest) from error
        except OSError as error:
            raise storage_error(Path(path), error) from error
        if sha256_bytes(data) != digest:
            raise _changed(digest, sha256_bytes(data), len(data))
        return data

    def size_of_whole(self, digest: str) -> int:
        """How many bytes a blob has, if they match its digest; it is not held in memory. Raises as :meth:`get`."""
        path, hasher, size = self._name(digest), hashlib.sha256(), 0
        try:
            with open(path, "rb", buffering=0) as handle:  # noqa: PTH123 - as in get()
                while block := handle.read(1 << 16):
                    hasher.update(block)
                    size += len(block)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            raise _missing(digest) from error
        except OSError as error:
            raise storage_error(Path(path), error) from error
        if f"sha256:{hasher.hexdigest()}" != digest:
            raise _changed(digest, f"sha256:{hasher.hexdigest()}", size)
        return size

    def has(self, digest: str) -> bool:
        return self._path(digest).is_file()

    def digests(self) -> Iterator[str]:
        if not self.root.is_dir():
            return
        for folder in sorted(self.root.iterdir()):
            if len(folder.name) == 2 and folder.is_dir():
                for path in sorted(folder.iterdir()):
                    if len(path.name) == 62:
                        yield f"sha256:{folder.name}{path.name}"

    def delete(self, digest: str) -> int:
        path = self._path(digest)
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise storage_error(path, error) from error
        return size


class UrlStore:
    """A store at any fsspec URL (``s3://...``, ``memory://...``); the filesystem package is the user's choice."""

    def __init__(self, url: str) -> None:
        import fsspec

        self._fs: Any
        self._fs, self._root = fsspec.core.url_to_fs(url)

    def _path(self, digest: str) -> str:
        name = digest.removeprefix("sha256:")
        return f"{self._root}/sha256/{name[:2]}/{name[2:]}"

    def put(self, data: bytes, media_type: str) -> BlobRef:
        digest = sha256_bytes(data)
        path = self._path(digest)
        if not self._fs.exists(path):
            self._fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
            self._fs.pipe_file(path, data)
        return BlobRef(digest=digest, size=len(data), media_type=media_type)

    def put_stream(self, chunks: Iterable[bytes], media_type: str) -> BlobRef:
        with tempfile.TemporaryFile() as spool:
            hasher = hashlib.sha256()
            for chunk in chunks:
                hasher.update(chunk)
                spool.write(chunk)
            size = spool.tell()
            digest = "sha256:" + hasher.hexdigest()
            path = self._path(digest)
            if not self._fs.exists(path):
                spool.seek(0)
                self._fs.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
                with self._fs.open(path, "wb") as out:
                    while block := spool.read(1 << 20):
                        out.write(block)
        return BlobRef(digest=digest, size=size, media_type=media_type)

    def get(self, digest: str) -> bytes:
        try:
            data = bytes(self._fs.cat_file(self._path(digest)))
        except FileNotFoundError as error:
            raise _missing(digest) from error
        if sha256_bytes(data) != digest:
            raise _changed(digest, sha256_bytes(data), len(data))
        return data

    def has(self, digest: str) -> bool:
        return bool(self._fs.exists(self._path(digest)))

    def digests(self) -> Iterator[str]:
        base = f"{self._root}/sha256"
        if not self._fs.exists(base):
            return
        for path in sorted(self._fs.find(base)):
            head, tail = path.split("/")[-2:]
            if len(head) == 2 and len(tail) == 62:
                yield f"sha256:{head}{tail}"

    def delete(self, digest: str) -> int:
        path = self._path(digest)
        if not self._fs.exists(path):
            return 0
        size = int(self._fs.size(path) or 0)
        self._fs.rm_file(path)
        return size


def is_whole(store: Store, digest: str) -> bool:
    """Whether a blob is there and still matches its digest; what is not can be made again by whoever made it."""
    try:
        store.get(digest)
    except VerifyError:
        return False
    return True


def size_of_whole(store: Store, digest: str) -> int:
    """How many bytes a blob has, if it is there and matches its digest; VerifyError if not."""
    return store.size_of_whole(digest) if isinstance(store, LocalStore) else len(store.get(digest))


def open_store(where: Path | str) -> Store:
    """A store for a folder or for an fsspec URL (anything with ``://``)."""
    if isinstance(where, str) and "://" in where:
        return UrlStore(where)
    return LocalStore(Path(where))


def _intact(path: Path, digest: str, size: int) -> bool:
    """Whether *path* already holds exactly these bytes; a truncated leftover is written anew."""
    try:
        return path.stat().st_size == size and sha256_bytes(path.read_bytes()) == digest
    except OSError:
        return False


def _missing(digest: str) -> VerifyError:
    return VerifyError(f"blob {digest}", "is not in the store", "restore it from a copy or a bundle")


def _changed(digest: str, actual: str, size: int) -> VerifyError:
    return VerifyError(f"blob {digest}", f"now hashes to {actual} ({size} bytes)", "restore it from a copy or a bundle")
