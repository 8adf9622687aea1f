"""A bundle's folder as a value: its digest, a cheap mark of it being untouched, and its one form on every host."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.digest import digest
from harness.errors import InfraError

EPOCH = 1795996800
"""The time of every file, in seconds: so a file that was written since is seen without reading it."""


@dataclass(frozen=True)
class Measured:
    """A tree by content. ``bytes`` counts files alone."""

    digest: str
    files: int
    bytes: int


def matching(root: Path, patterns: Sequence[str]) -> list[Path]:
    """The files that any of the patterns names.

    Args:
        root: the tree.
        patterns: of paths; ``*`` stays within a folder's name, ``**`` does not.

    Raises:
        InfraError: a pattern names nothing.
    """
    wanted = {text: _pattern(text) for text in patterns}
    unused = set(patterns)
    found = []
    for path, item in _walk(root, ""):
        hits = {text for text, pattern in wanted.items() if pattern.fullmatch(path)}
        unused -= hits
        found += [Path(item.path)] if hits else []
    if unused:
        raise InfraError(min(unused), "names no file of the bundle", "correct the bundle's recipe")
    return found


def settle(root: Path) -> None:
    """Bring a fresh tree into its one form: no empty folder, two modes, one time.

    Raises:
        InfraError: an entry is neither file, folder nor a link within the tree.
    """
    for path, item in _walk(root, ""):
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            _check_link(root, path)
        elif stat.S_ISREG(mode):
            Path(item.path).chmod(0o755 if mode & 0o111 else 0o644)
        else:
            raise InfraError(path, "is neither a file, a folder nor a link", "correct the bundle's recipe")
        os.utime(item.path, (EPOCH, EPOCH), follow_symlinks=False)
    for folder, _, _ in os.walk(root, topdown=False):
        if folder != str(root) and not any(os.scandir(folder)):
            Path(folder).rmdir()
        else:
            Path(folder).chmod(0o755)


def measure(root: Path) -> Measured:
    """Read the whole tree: the digest is over ``[path, mode in octal, sha256 or target]`` in the order of the bytes."""
    rows: list[list[str]] = []
    size = 0
    for path, item in _walk(root, ""):
        status = item.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            rows.append([path, "120000", str(Path(item.path).readlink())])
            continue
        with Path(item.path).open("rb") as handle:
            rows.append([path, f"{stat.S_IMODE(status.st_mode):o}", hashlib.file_digest(handle, "sha256").hexdigest()])
        size += status.st_size
    return Measured(digest(rows), len(rows), size)


def stamp(root: Path) -> str:
    """What is known of the tree without reading a file: any write to it since it was settled changes this."""
    rows = []
    for path, item in _walk(root, ""):
        status = item.stat(follow_symlinks=False)
        rows.append([path, f"{status.st_mode:o}", status.st_size, str(status.st_mtime_ns)])
    return digest(rows)


def _walk(root: Path, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Files and links by path, in the order of the paths' bytes."""
    with os.scandir(root) as found:
        items = sorted(found, key=lambda item: os.fsencode(item.name + ("/" if _is_folder(item) else "")))
    for item in items:
        if _is_folder(item):
            yield from _walk(Path(item.path), f"{prefix}{item.name}/")
        else:
            yield prefix + item.name, item


def _is_folder(item: os.DirEntry[str]) -> bool:
    return item.is_dir(follow_symlinks=False)


def _check_link(root: Path, path: str) -> None:
    """A link leads to something of the tree: in a container it would otherwise read what the image has there."""
    link = root / path
    if link.readlink().is_absolute() or not link.resolve().is_relative_to(root.resolve()):
        raise InfraError(path, "is a link that leaves the bundle", "drop it in the bundle's recipe")


def _pattern(text: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*|\*)", text)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(part) or re.escape(part) for part in parts))
