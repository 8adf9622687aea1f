"""Writing a layout, as a tar or as a folder: the same blobs give the same bytes, whoever writes them and when."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.digest import sha256_bytes
from harness.errors import VerifyError
from harness.files import storage_error
from harness.oci.records import INDEX_FILE, LAYOUT, LAYOUT_FILE, Manifest

_CHUNK = 1 << 20
_END = 20 * 512
"""What tar archives are filled up to."""


@dataclass(frozen=True)
class Blob:
    """Bytes that will go in. They are opened when their turn comes, and hashed as they pass."""

    digest: str
    size: int
    opened: Callable[[], AbstractContextManager[IO[bytes]]]


@dataclass(frozen=True)
class Image:
    """An image that goes in whole: our id of it, its manifest, and its blobs."""

    id: str
    manifest: Manifest
    blobs: tuple[Blob, ...]


def blob_of(data: bytes) -> Blob:
    """A blob of bytes at hand."""
    return Blob(sha256_bytes(data), len(data), lambda: io.BytesIO(data))


def write_tar(path: Path, index: bytes, blobs: Iterable[Blob]) -> int:
    """Write a layout to one file, which is there whole or not at all; returns its bytes.

    What leads to the rest comes first: ``oci-layout``, ``index.json``, then *blobs* in their order.

    Raises:
        VerifyError: a blob is not what its digest says.
        StorageError: the disk refuses.
    """
    try:
        fd, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(fd, "wb") as out:
                for name, data in ((LAYOUT_FILE, LAYOUT), (INDEX_FILE, index)):
                    out.write(_header(name, len(data)) + data + _padding(len(data)))
                for blob in blobs:
                    out.write(_header(_name(blob), blob.size))
                    _copy(blob, out)
                    out.write(_padding(blob.size))
                out.write(bytes(1024))
                out.write(bytes(-out.tell() % _END))
                out.flush()
                os.fsync(out.fileno())
                size = out.tell()
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(path, error) from error
    return size


def write_folder(path: Path, index: bytes, blobs: Iterable[Blob]) -> int:
    """Write a layout to a new folder, which is there whole or not at all; returns the bytes of its files. Raises as
    :func:`write_tar`.
    """
    size = len(LAYOUT) + len(index)
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent))
        try:
            (work / "blobs" / "sha256").mkdir(parents=True)
            for name, data in ((LAYOUT_FILE, LAYOUT), (INDEX_FILE, index)):
                (work / name).write_bytes(data)
            for blob in blobs:
                with (work / _name(blob)).open("wb") as out:
                    _copy(blob, out)
                size += blob.size
            work.chmod(0o755)
            if path.is_dir():
                path.rmdir()
            work.rename(path)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
    except OSError as error:
        raise storage_error(path, error) from error
    return size


def _copy(blob: Blob, out: IO[bytes]) -> None:
    hasher = hashlib.sha256()
    left = blob.size
    with blob.opened() as source:
        while piece := source.read(min(_CHUNK, left + 1)):
            hasher.update(piece)
            left -= len(piece)
            if left < 0:
                break
            out.write(piece)
    if left or hasher.hexdigest() != blob.digest.removeprefix("sha256:"):
        raise VerifyError(f"blob {blob.digest}", "changed while it was packed", "restore it from a copy")


def _name(blob: Blob) -> str:
    return f"blobs/sha256/{blob.digest.removeprefix('sha256:')}"


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info.tobuf(tarfile.USTAR_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % 512)
