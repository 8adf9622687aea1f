"""File trees as values: what a task's folders hold, independent of the disk they lie on.

A tree is its files, their execute bit and their symbolic links. Empty folders, owners, times and other mode bits are no
part of it, nor are build by-products.
"""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.digest import digest, sha256_bytes
from harness.errors import UserError
from harness.suites.parse import read_bytes
from harness.suites.paths import check_relative

REGULAR = 0o644
EXECUTABLE = 0o755
LINK = 0o120000
"""The three modes of an entry; a link's bytes are its target."""

BY_PRODUCTS = (
    "__pycache__",
    "*.pyc",
    "*.pyo",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    ".DS_Store",
    "*~",
    ".*.swp",
    ".*.swo",
    "#*#",
)


_BY_PRODUCT = re.compile("|".join(map(fnmatch.translate, BY_PRODUCTS)))


def is_by_product(name: str) -> bool:
    """Whether a file or folder of this name is left by a tool or an editor, and so is no part of any tree."""
    return _BY_PRODUCT.match(name) is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or link. ``mode`` is :data:`REGULAR`, :data:`EXECUTABLE` or :data:`LINK`."""

    path: str
    mode: int
    data: bytes = field(repr=False)
    sha256: str = field(init=False)
    """``sha256:<hex>`` of the bytes (of a link, its target)."""

    def __post_init__(self) -> None:
        if self.mode not in {REGULAR, EXECUTABLE, LINK}:
            raise ValueError(f"{self.path}: mode {self.mode:o} is none of 644, 755 and 120000")
        check_relative(self.path)
        object.__setattr__(self, "sha256", sha256_bytes(self.data))


class Tree(Mapping[str, Entry]):
    """Entries by path, in the order of the paths' bytes. Immutable; every operation gives a new tree."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Build a tree.

        Raises:
            ValueError: a path comes twice, or is both a file and a folder.
        """
        self._entries: dict[str, Entry] = {}
        for entry in sorted(entries, key=lambda one: one.path.encode()):
            if entry.path in self._entries:
                raise ValueError(f"{entry.path} comes twice")
            self._entries[entry.path] = entry
        both = min((folder for folder in _folders(self._entries) if folder in self._entries), default=None)
        if both is not None:
            raise ValueError(f"{both} is both a file and a folder")

    def __getitem__(self, path: str) -> Entry:
        return self._entries[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return self._entries == other._entries if isinstance(other, Tree) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._entries.values()))

    def __repr__(self) -> str:
        return f"Tree({len(self)} entries, {self.size} bytes)"

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(len(entry.data) for entry in self._entries.values())

    @property
    def inodes(self) -> int:
        """Files, links and the folders that hold them, the root included."""
        return len(self._entries) + len(_folders(self._entries)) + 1

    @property
    def digest(self) -> str:
        """The same as :func:`tree_digest`."""
        return tree_digest(self)

    def overlay(self, other: Tree) -> Tree:
        """This tree with every entry of *other* laid over it.

        Raises:
            ValueError: a path would be both a file and a folder.
        """
        return Tree({**self._entries, **other._entries}.values())

    def without(self, paths: Iterable[str]) -> Tree:
        """This tree less the files at *paths*.

        Raises:
            ValueError: a path is not a file of this tree.
        """
        gone = set(paths)
        absent = sorted(gone - self._entries.keys())
        if absent:
            raise ValueError(f"{absent[0]} is not a file of the tree")
        return Tree(entry for path, entry in self._entries.items() if path not in gone)


def _folders(paths: Iterable[str]) -> set[str]:
    """Every folder that holds one of *paths*, at any depth; each is looked at once, however many files share it."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def tree_digest(tree: Tree) -> str:
    """Digest of the list of ``[path, mode in octal, digest of the bytes]`` in the order of the paths' bytes."""
    return digest([[entry.path, f"{entry.mode:o}", entry.sha256] for entry in tree.values()])


def read_tree(folder: Path) -> Tree:
    """Read a folder, leaving by-products out. An absent folder is an error, an empty one an empty tree.

    Raises:
        UserError: the folder is missing, an entry is unreadable, special, badly named, a ``.git`` or a link that leaves
            the tree.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(str(folder), "is not a folder", "create it; docs/suites.md says what it holds")
    return Tree(_walk(folder, ""))


def _walk(folder: Path, prefix: str) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as found:
            items = sorted(found, key=lambda item: os.fsencode(item.name))
    except OSError as error:
        raise UserError(str(folder), f"can't be read: {error.strerror}", "check its permissions") from error
    for item in items:
        if is_by_product(item.name):
            continue
        path, place = prefix + item.name, Path(item.path)
        try:
            check_relative(path)
        except ValueError as error:
            raise UserError(str(folder), str(error), "rename it") from error
        if item.name == ".git":
            raise UserError(str(place), "a task's tree holds no git store", "remove it")
        mode = item.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            yield from _walk(place, path + "/")
        elif stat.S_ISLNK(mode):
            yield Entry(path, LINK, _checked_target(place, path))
        elif stat.S_ISREG(mode):
            yield Entry(path, EXECUTABLE if mode & stat.S_IXUSR else REGULAR, read_bytes(place))
        else:
            raise UserError(str(place), "is neither a file, a folder nor a link", "remove it")


def _checked_target(place: Path, path: str) -> bytes:
    """A link's target, which may climb with leading ``..`` only and no higher than the tree's root.

    A later ``..`` could climb from wherever another link leads, so none is allowed.
    """
    target = os.fsencode(place.readlink())
    parts = target.split(b"/")
    climbs = next((n for n, part in enumerate(parts) if part != b".."), len(parts))
    if target.startswith(b"/") or climbs > path.count("/") or b".." in parts[climbs:]:
        raise UserError(str(place), "is a link that may leave the tree", "point it at a path inside, or copy the file")
    return target
