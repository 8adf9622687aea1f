"""Reading a layout, a tar or a folder, that anybody may have written: where each blob lies, and nothing unpacked.

A tar is read by its headers alone, and only plain files under the names of a layout are let through: a path that
climbs, a link, a device, a member that comes twice, a compressed or a cut archive is refused by name before any content
is looked at. Contents are then hashed where they lie.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.digest import loads, sha256_bytes
from harness.errors import InfraError, UserError, VerifyError
from harness.oci.records import INDEX_FILE, LAYOUT_FILE
from harness.untrusted import clean_text

MAX_ENTRIES = 2_000_000
MAX_DOCUMENT = 64 << 20
"""Bytes of any one JSON document."""

_NAMES = re.compile(r"oci-layout|index\.json|blobs/sha256/[0-9a-f]{64}")
_FOLDERS = {"blobs", "blobs/sha256", "", "."}
_BLOCK = 512
_MAX_END = 1 << 20
"""Zeros that a tar program may add at the end, so that the file is of a whole number of its records."""
_CHUNK = 1 << 20
_AGAIN = "get the bundle again"
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
}


@dataclass(frozen=True)
class Place:
    """Where bytes lie: in a file, from an offset on."""

    path: Path
    offset: int
    size: int


@dataclass(frozen=True)
class Layout:
    """A layout's files by name. ``where`` is how to speak of it."""

    where: str
    places: Mapping[str, Place]

    def has(self, digest: str) -> bool:
        """Whether it holds a blob of that name."""
        return _name(digest) in self.places

    def size(self, digest: str) -> int:
        """A blob's bytes.

        Raises:
            VerifyError: it holds no such blob.
        """
        return self.place(digest).size

    def document(self, name: str) -> bytes:
        """The bytes of ``index.json`` or ``oci-layout``."""
        return self._read(self.places[name], name, MAX_DOCUMENT)

    def read(self, digest: str, most: int = MAX_DOCUMENT) -> bytes:
        """A blob's bytes, which match its digest.

        Raises:
            VerifyError: it isn't there, or is changed.
            UserError: it has more than *most* bytes.
        """
        data = self._read(self.place(digest), f"blob {digest}", most)
        if sha256_bytes(data) != digest:
            raise _changed(digest, sha256_bytes(data), len(data))
        return data

    def chunks(self, digest: str) -> Iterator[bytes]:
        """A blob's bytes a piece at a time; they are not checked here.

        Raises:
            VerifyError: it isn't there, or ends early.
        """
        place = self.place(digest)
        with _opened(place.path) as handle:
            handle.seek(place.offset)
            left = place.size
            while left:
                piece = handle.read(min(_CHUNK, left))
                if not piece:
                    raise VerifyError(f"blob {digest}", "ends early", _AGAIN)
                left -= len(piece)
                yield piece

    def digests(self) -> Iterator[str]:
        """All blobs."""
        for name in self.places:
            if name.startswith("blobs/"):
                yield f"sha256:{name.rpartition('/')[2]}"

    def check(self) -> int:
        """Hash every blob; how many there are.

        Raises:
            VerifyError: one is not what its name says.
        """
        count = 0
        for digest in self.digests():
            hasher = hashlib.sha256()
            for piece in self.chunks(digest):
                hasher.update(piece)
            if hasher.hexdigest() != digest.removeprefix("sha256:"):
                raise _changed(digest, f"sha256:{hasher.hexdigest()}", self.size(digest))
            count += 1
        return count

    def place(self, digest: str) -> Place:
        """Where a blob lies.

        Raises:
            VerifyError: it holds no such blob.
        """
        found = self.places.get(_name(digest))
        if found is None:
            raise VerifyError(f"blob {digest}", f"is not in {self.where}", _AGAIN)
        return found

    def _read(self, place: Place, what: str, most: int) -> bytes:
        if place.size > most:
            raise UserError(f"{self.where}: {what}", f"has {place.size} bytes, at most {most} are read", _AGAIN)
        with _opened(place.path) as handle:
            handle.seek(place.offset)
            data = handle.read(place.size)
        if len(data) != place.size:
            raise VerifyError(f"{self.where}: {what}", "ends early", _AGAIN)
        return data


def open_layout(path: Path) -> Layout:
    """Find out what a layout holds; no blob is read yet.

    Raises:
        UserError: it is none, or holds what none may hold: the member and the reason are named.
        InfraError: it can't be read.
    """
    where = f"bundle {clean_text(path.name)}"
    places: dict[str, Place] = {}
    try:
        found = _folder(path, where) if path.is_dir() else _tar(path, where)
        for name, place in found:
            if name in places:
                raise UserError(where, f"{name} comes twice", _AGAIN)
            if len(places) >= MAX_ENTRIES:
                raise UserError(where, f"holds more than {MAX_ENTRIES} files", _AGAIN)
            places[name] = place
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error
    layout = Layout(where, places)
    for name in (LAYOUT_FILE, INDEX_FILE):
        if name not in places:
            raise UserError(where, f"has no {name}, so it is no bundle", "`trialbox card bundle` makes one")
    _check_version(layout)
    return layout


def _check_version(layout: Layout) -> None:
    try:
        value = loads(layout.document(LAYOUT_FILE))
    except (ValueError, RecursionError):
        value = None
    version = value.get("imageLayoutVersion") if isinstance(value, dict) else None
    if version != "1.0.0":
        shown = clean_text(str(version), 20)
        raise UserError(f"{layout.where}: {LAYOUT_FILE}", f"says version {shown}, not 1.0.0", _AGAIN)


# ------------------------------------------------------------------------------------------------------------- folders


def _folder(root: Path, where: str) -> Iterable[tuple[str, Place]]:
    for folder, folders, files in os.walk(root):
        for name in sorted((*folders, *files)):
            path = Path(folder) / name
            inner = path.relative_to(root).as_posix()
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            if not stat.S_ISREG(mode):
                raise UserError(where, f"{clean_text(inner)} is a link or no plain file", _AGAIN)
            yield _checked(inner, where), Place(path, 0, path.lstat().st_size)


# ---------------------------------------------------------------------------------------------------------------- tars


def _tar(path: Path, where: str) -> Iterator[tuple[str, Place]]:
    size = path.stat().st_size
    with path.open("rb") as handle:
        _refuse_compressed(handle.read(8), where)
        offset = 0
        while True:
            handle.seek(offset)
            header = handle.read(_BLOCK)
            if len(header) < _BLOCK:
                raise UserError(where, "is cut short: its end mark is missing", _AGAIN)
            if not any(header):
                _refuse_rest(handle, where)
                return
            name, kind, length = _header(header, where, offset)
            offset += _BLOCK
            if offset + length > size:
                raise UserError(where, f"is cut short inside {name}", _AGAIN)
            if kind == b"5":
                if name.rstrip("/") not in _FOLDERS:
                    raise UserError(where, f"{name} is no part of a bundle", _AGAIN)
            else:
                yield _checked(name, where), Place(path, offset, length)
            handle.seek(offset + length)
            if any(handle.read(-length % _BLOCK)):
                raise UserError(where, f"has bytes behind the end of {name}", _AGAIN)
            offset += -(-length // _BLOCK) * _BLOCK


def _refuse_compressed(start: bytes, where: str) -> None:
    kind = next((kind for mark, kind in _COMPRESSED.items() if start.startswith(mark)), None)
    if kind is not None:
        raise UserError(where, f"is compressed ({kind}), which may unpack to anything", "unpack it first, with care")


def _refuse_rest(handle: IO[bytes], where: str) -> None:
    rest = handle.read(_MAX_END + 1)
    if len(rest) > _MAX_END or rest.strip(b"\0"):
        raise UserError(where, "goes on after its end mark", _AGAIN)


def _header(header: bytes, where: str, offset: int) -> tuple[str, bytes, int]:
    """A member's name, its kind and its bytes, of a header that plain tar programs agree about."""
    if header[257:262] != b"ustar":
        raise UserError(where, f"is no tar (byte {offset})", "give a file that `trialbox card bundle` made")
    numbers = _octal(header[148:154]), _octal(header[124:136])
    ends = header[154:156] == b"\0 "  # as every program ends it: it is the one field that the checksum doesn't cover
    if None in numbers or not ends or numbers[0] != sum(header[:148]) + sum(header[156:]) + 8 * 32:
        raise UserError(where, f"has a damaged header (byte {offset})", _AGAIN)
    raw = header[:100].split(b"\0")[0]
    if header[257:263] == b"ustar\0" and header[345]:
        raw = header[345:500].split(b"\0")[0] + b"/" + raw
    name = raw.decode("utf-8", "surrogateescape").removeprefix("./")
    kind, length = header[156:157], numbers[1] or 0
    if kind not in {b"0", b"\0", b"5"}:
        what = {b"1": "a link", b"2": "a link", b"S": "a sparse file", b"x": "an extended header"}.get(kind, "special")
        problem = f"{clean_text(name)} is {what}, not a plain file"
        raise UserError(where, problem, "write it as `tar --format=ustar` does")
    return clean_text(name, 300), kind, length


def _octal(field: bytes) -> int | None:
    text = field.rstrip(b" \0")
    return int(text, 8) if re.fullmatch(rb"[0-7]{1,12}", text) else None


def _checked(name: str, where: str) -> str:
    if _NAMES.fullmatch(name):
        return name
    climbs = name.startswith("/") or ".." in name.split("/")
    reason = "would lead out of it" if climbs else "is no part of a bundle"
    raise UserError(where, f"{clean_text(name)} {reason}", _AGAIN)


# ------------------------------------------------------------------------------------------------------------- plumbing


def _name(digest: str) -> str:
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error


def _changed(digest: str, actual: str, size: int) -> VerifyError:
    return VerifyError(f"blob {digest}", f"now hashes to {actual} ({size} bytes)", _AGAIN)
