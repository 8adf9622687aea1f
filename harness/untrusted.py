"""The one door for hostile bytes: trees that leave a container, and text that is shown to people.

Nothing from a candidate is executed, parsed by git or unpacked to disk here. A tree arrives as a tar stream with an
independent listing made before it; both must agree. What is refused is refused by name, so that an honest attempt can
see why.
"""

from __future__ import annotations

import re
import tarfile
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import IO

from harness.errors import InfraError
from harness.outcomes import Rejection
from harness.suites.paths import MAX_PATH_BYTES
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree, is_by_product

MAX_DEPTH = 256
MAX_COMPONENT_BYTES = 255
MAX_FILE_BYTES = 64 << 20
_PAGE = 4096

_GIT_NAMES = {".git", ".gitmodules"}
"""In any case: a file system that folds cases would take them for git's own."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SEPARATORS = {"\u2028", "\u2029"}


class Refused(Exception):
    """A tree that is not accepted: the named reason and one line of detail, already safe to show."""

    def __init__(self, reason: Rejection, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason.value}: {detail}")


def clean_text(text: str | bytes, limit: int = 200) -> str:
    """*text* as one line that is safe on a terminal and in a page's text.

    Control characters (C0, C1, escape), format characters (bidirectional controls, zero-width, tags), surrogates and
    line separators are replaced by ``\\xNN``-like escapes; longer text is cut with an ellipsis.
    """
    raw = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    cut = raw[:limit]
    safe = cut if cut.isprintable() else "".join(map(_shown, cut))
    return safe + ("…" if len(raw) > limit else "")


def inert(text: str) -> str:
    """All of *text* as one such line, however long: the last door before a terminal."""
    return clean_text(text, len(text))


@lru_cache(maxsize=4096)
def _shown(ch: str) -> str:
    hidden = _CONTROL.match(ch) or ch in _SEPARATORS or unicodedata.category(ch) in {"Cf", "Cs", "Co", "Cn"}
    return f"\\u{{{ord(ch):x}}}" if hidden else ch


@dataclass(frozen=True)
class Listing:
    """An independent look at a tree: how many entries of each type, and the greatest depth.

    Types are those of ``find -printf %y``: ``f`` file, ``d`` folder, ``l`` link, others special.
    """

    types: Counter[str]
    depth: int

    @property
    def entries(self) -> int:
        """All entries, the root left out."""
        return sum(self.types.values())


def parse_listing(data: bytes) -> Listing:
    """Read lines of one type letter and a depth, as the keeper's ``find`` prints them."""
    types: Counter[str] = Counter()
    depth = 0
    for line in data.split(b"\n"):
        if re.fullmatch(rb"[a-zA-Z][0-9]{1,9}", line):
            types[chr(line[0])] += 1
            depth = max(depth, int(line[1:]))
    return Listing(types, depth)


def refuse_listing(listing: Listing, *, max_entries: int) -> None:
    """Refuse a tree by its listing alone, before a byte of it is read.

    Raises:
        Refused: special files, too deep, or too many entries.
    """
    special = sorted(kind for kind in listing.types if kind not in "fdl")
    if special:
        raise Refused(Rejection.SPECIAL_FILE, f"{listing.types[special[0]]} entries of type {special[0]!r}")
    if listing.depth > MAX_DEPTH:
        raise Refused(Rejection.TREE_TOO_DEEP, f"{listing.depth} levels, limit {MAX_DEPTH}")
    if listing.entries > max_entries:
        raise Refused(Rejection.TOO_MANY_FILES, f"{listing.entries} entries, limit {max_entries}")


@dataclass(frozen=True)
class CapturedTree:
    """A tree that passed the door.

    ``entries`` counts all members of the archive, by-products and folders included; ``dropped`` names what was left
    behind and how often.
    """

    tree: Tree
    entries: int
    bytes: int
    dropped: Counter[str]


def read_archive(archive: IO[bytes], listing: Listing, *, max_bytes: int) -> CapturedTree:
    """Read a tar into a tree of files and links, checking every member.

    Folders carry no content of their own; build by-products and Python environments are dropped, since neither is part
    of a change and both are full of names that would be refused.

    Args:
        archive: a seekable tar, made by the keeper's GNU tar of a tree in which nothing runs any more.
        listing: the independent count of the same tree.
        max_bytes: most bytes of file content, in whole pages, counting a hard link's once for each name.

    Raises:
        Refused: a member is not acceptable; the first one found is named.
        InfraError: the archive is cut or does not agree with the listing, so nothing can be said about the tree.
    """
    reader = _Reader(max_bytes)
    try:
        with tarfile.open(fileobj=archive, mode="r:", errors="surrogateescape") as tar:
            for member in tar:
                reader.add(tar, member)
    except tarfile.TarError as error:
        raise InfraError("capture", f"the tree's stream is damaged ({error})", "run the attempt again") from error
    if reader.entries != listing.entries:
        raise InfraError(
            "capture",
            f"the tree's stream holds {reader.entries} entries where {listing.entries} were counted",
            "run the attempt again",
        )
    return CapturedTree(Tree(reader.kept()), reader.entries, reader.bytes, reader.dropped)


class _Reader:
    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._files: dict[str, Entry] = {}
        self._hard: dict[str, Entry] = {}
        """By raw name, by-products included: a later hard link may point at any of them."""
        self._environments: set[str] = set()
        self._folded: dict[str, str] = {}
        self.entries = 0
        self.bytes = 0
        self._pages = 0
        self.dropped: Counter[str] = Counter()

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        name = member.name.removeprefix("./")
        if name in {"", "."}:
            return
        self.entries += 1
        path = _checked_path(name)
        parts = path.split("/")
        if parts[0] == ".git":
            raise InfraError("capture", "the git store was not left out", "this is a defect; please report it")
        if not _GIT_NAMES.isdisjoint(path.casefold().split("/")):
            raise Refused(Rejection.NESTED_REPOSITORY, clean_text(path))
        by_product = next(filter(is_by_product, parts), None)
        if member.isdir():
            if by_product:
                self.dropped[by_product] += 1
            return
        if not (member.isreg() or member.issym() or member.islnk()):
            raise Refused(Rejection.SPECIAL_FILE, clean_text(path))
        entry = self._entry(tar, member, path)
        self._hard[path] = entry
        if by_product:
            self.dropped[by_product] += 1
            return
        if parts[-1] == "pyvenv.cfg" and len(parts) > 1:
            self._environments.add(path.rpartition("/")[0])
        folded = unicodedata.normalize("NFC", path).casefold()
        twin = self._folded.setdefault(folded, path)
        if twin != path:
            raise Refused(Rejection.BAD_PATH, f"{clean_text(path)} and {clean_text(twin)} differ only in case or form")
        self._files[path] = entry

    def _entry(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> Entry:
        if member.islnk():
            first = self._hard.get(member.linkname.removeprefix("./"))
            if first is None:
                raise Refused(Rejection.SPECIAL_FILE, f"hard link {clean_text(path)} to nothing in the tree")
            self._count(len(first.data), path)
            return Entry(path, first.mode, first.data)
        if member.issym():
            return Entry(path, LINK, member.linkname.encode("utf-8", "surrogateescape"))
        if member.mode & 0o7000:
            raise Refused(Rejection.BAD_MODE, f"{clean_text(path)} has mode {member.mode & 0o7777:o}")
        if member.size > MAX_FILE_BYTES:
            raise Refused(
                Rejection.TREE_TOO_LARGE, f"{clean_text(path)} has {member.size} bytes, limit {MAX_FILE_BYTES}"
            )
        self._count(member.size, path)
        source = tar.extractfile(member)
        data = source.read() if source else b""
        if len(data) != member.size:
            raise InfraError("capture", f"the stream ends inside {clean_text(path)}", "run the attempt again")
        return Entry(path, EXECUTABLE if member.mode & 0o100 else REGULAR, data)

    def _count(self, size: int, path: str) -> None:
        """Count in pages, as a volume does: a hole or a link takes none there, but its copy does in the grader."""
        self.bytes += size
        self._pages += -(-size // _PAGE)
        if self._pages * _PAGE > self._max_bytes:
            raise Refused(Rejection.TREE_TOO_LARGE, f"over {self._max_bytes} bytes at {clean_text(path)}")

    def kept(self) -> Iterator[Entry]:
        if not self._environments:
            yield from self._files.values()
            return
        for path, entry in self._files.items():
            environment = next(filter(self._environments.__contains__, _above(path)), None)
            if environment:
                self.dropped[clean_text(environment + "/")] += 1
            else:
                yield entry


def _above(path: str) -> Iterator[str]:
    """The folders over *path*, from the top."""
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _checked_path(name: str) -> str:
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused(Rejection.BAD_PATH, f"{clean_text(name)} is not UTF-8") from None
    parts = name.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise Refused(Rejection.BAD_PATH, f"{clean_text(name)} is not a plain relative path")
    if clean_text(name, len(name)) != name or "\\" in name:
        raise Refused(Rejection.BAD_PATH, f"{clean_text(name)} holds control or format characters")
    if len(encoded) > MAX_PATH_BYTES or max(map(len, encoded.split(b"/"))) > MAX_COMPONENT_BYTES:
        raise Refused(Rejection.BAD_PATH, f"{clean_text(name, 60)} is too long")
    if len(parts) > MAX_DEPTH:
        raise Refused(Rejection.TREE_TOO_DEEP, f"{len(parts)} levels, limit {MAX_DEPTH}")
    return name


def refuse_escaping_link(path: str, target: bytes) -> None:
    """Refuse a link that is absolute or could climb out of the tree (leading ``..`` only, and not above the root).

    Raises:
        Refused: the link may leave the tree.
    """
    parts = target.split(b"/")
    climbs = next((n for n, part in enumerate(parts) if part != b".."), len(parts))
    if target.startswith(b"/") or climbs > path.count("/") or b".." in parts[climbs:] or b"\0" in target:
        raise Refused(Rejection.SYMLINK_ESCAPE, f"{clean_text(path)} -> {clean_text(target)}")
