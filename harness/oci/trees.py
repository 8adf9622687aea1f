"""A file tree in one blob: a plain tar that we write the same byte for byte, and read through the one door."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from pathlib import Path

from harness.errors import InfraError, UserError
from harness.files import storage_error
from harness.oci.layout import Layout
from harness.suites.tree import LINK, Tree
from harness.untrusted import Listing, Refused, read_archive, refuse_escaping_link

MAX_TREE = 256 << 20
"""Bytes of one tree's tar."""


def pack_tree(tree: Tree) -> bytes:
    """The tree as a tar: files and links alone, sorted, root's, without times."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, entry in tree.items():
            member = tarfile.TarInfo(path)
            if entry.mode == LINK:
                member.type, member.mode = tarfile.SYMTYPE, 0o777
                member.linkname = entry.data.decode("utf-8", "surrogateescape")
                tar.addfile(member)
            else:
                member.mode, member.size = entry.mode, len(entry.data)
                tar.addfile(member, io.BytesIO(entry.data))
    return buffer.getvalue()


def read_tree_blob(layout: Layout, digest: str, what: str) -> Tree:
    """A tree from a blob that anybody may have written; nothing is unpacked.

    Raises:
        UserError: it is no tar, too large, or holds what a tree of ours can't: named.
        VerifyError: the blob is missing or changed.
    """
    return unpack_tree(layout.read(digest, MAX_TREE), f"{layout.where}: {what}", "get the bundle again")


def unpack_tree(data: bytes, where: str, remedy: str) -> Tree:
    """A tree from a tar that anybody may have written; nothing is unpacked.

    Raises:
        UserError: it is no tar, too large, or holds what a tree of ours can't: named.
    """
    try:
        entries = _count(data)
        found = read_archive(io.BytesIO(data), Listing(Counter(f=entries), 1), max_bytes=2 * MAX_TREE)
        for path, entry in found.tree.items():
            if entry.mode == LINK:
                refuse_escaping_link(path, entry.data)
    except (Refused, InfraError, tarfile.TarError, ValueError, OSError) as error:
        raise UserError(where, f"is not acceptable: {' '.join(str(error).split())}", remedy) from error
    if found.dropped:
        raise UserError(where, f"holds {next(iter(found.dropped))}, which no tree of ours does", remedy)
    return found.tree


def lay_out(tree: Tree, folder: Path) -> None:
    """Write a tree to a new folder.

    Raises:
        StorageError: the disk refuses.
    """
    try:
        folder.mkdir(parents=True)
        for path, entry in tree.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if entry.mode == LINK:
                place.symlink_to(entry.data.decode("utf-8", "surrogateescape"))
            else:
                place.write_bytes(entry.data)
                place.chmod(entry.mode)
    except OSError as error:
        raise storage_error(folder, error) from error


def _count(archive: bytes) -> int:
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
        return sum(member.name not in {"", "."} for member in tar)
