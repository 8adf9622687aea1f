"""A source distribution's archive as a tree: bytes of strangers, read in memory through the door for hostile bytes."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections import Counter

from harness.errors import UserError
from harness.outcomes import Rejection
from harness.suites.tree import LINK, Entry, Tree
from harness.untrusted import Listing, Refused, clean_text, read_archive, refuse_escaping_link, refuse_listing

MAX_UNPACKED_BYTES = 64 << 20
MAX_ENTRIES = 20_000


def read_sdist(data: bytes, where: str) -> Tree:
    """The files of a ``.tar.gz``, less its one top folder and less by-products.

    Raises:
        UserError: not such an archive, or with something in it that no tree of ours may hold.
    """
    remedy = "start from another release"
    try:
        plain = _unpacked(data)
        listing = _listing(plain)
        refuse_listing(listing, max_entries=MAX_ENTRIES)
        plain.seek(0)
        tree = read_archive(plain, listing, max_bytes=MAX_UNPACKED_BYTES).tree
        for entry in tree.values():
            if entry.mode == LINK:
                refuse_escaping_link(entry.path.partition("/")[2], entry.data)
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise UserError(where, f"is not a whole .tar.gz ({type(error).__name__})", remedy) from error
    except ValueError as error:  # a path that is both a file and a folder
        raise UserError(where, clean_text(str(error)), remedy) from error
    except Refused as refused:
        raise UserError(where, f"is refused, {refused}", remedy) from refused
    tops = {path.partition("/")[0] for path in tree}
    if len(tops) != 1 or any("/" not in path for path in tree):
        raise UserError(where, "does not hold one top folder with everything in it", remedy)
    return Tree(Entry(entry.path.partition("/")[2], entry.mode, entry.data) for entry in tree.values())


def _unpacked(data: bytes) -> io.BytesIO:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        plain = stream.read(MAX_UNPACKED_BYTES + 1)
    if len(plain) > MAX_UNPACKED_BYTES:
        raise Refused(Rejection.TREE_TOO_LARGE, f"over {MAX_UNPACKED_BYTES} bytes")
    return io.BytesIO(plain)


def _listing(plain: io.BytesIO) -> Listing:
    """A first pass over the headers alone, before anything is kept."""
    types: Counter[str] = Counter()
    depth = 0
    with tarfile.open(fileobj=plain, mode="r:", errors="surrogateescape") as tar:
        for member in tar:
            name = member.name.removeprefix("./")
            if name in {"", "."}:
                continue
            types[_kind(member)] += 1
            depth = max(depth, name.count("/") + 1)
            if types.total() > MAX_ENTRIES:
                break
    return Listing(types, depth)


def _kind(member: tarfile.TarInfo) -> str:
    """As a listing spells it; ``s`` for whatever is special."""
    if member.isreg() or member.islnk():
        return "f"
    return "d" if member.isdir() else "l" if member.issym() else "s"
