"""Candidates written as edits: words that stand once in a file, replaced, so that no more of it is committed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.suites.parse import FileModel
from harness.suites.paths import RelativePath
from harness.suites.tree import LINK, Entry, Tree

Snippet = Annotated[str, Field(min_length=1, max_length=4000)]


class EditedTree(StrEnum):
    """What a candidate's edits start from."""

    BEFORE = "before"
    REFERENCE = "reference"


class Edit(FileModel):
    """``find`` stands exactly once in ``file`` and becomes ``replace``."""

    file: RelativePath
    find: Snippet
    replace: Annotated[str, Field(max_length=4000)]


def edited(tree: Tree, edits: Iterable[Edit]) -> Tree:
    """*tree* after the edits, one after the other.

    Raises:
        ValueError: a file is missing, a link or not UTF-8, or does not hold the words exactly once.
    """
    for edit in edits:
        if edit.file not in tree or tree[edit.file].mode == LINK:
            raise ValueError(f"{edit.file} is no file of the tree")
        entry = tree[edit.file]
        times = entry.data.count(edit.find.encode())
        if times != 1:
            raise ValueError(f"{edit.find[:40]!r} stands {times} times in {edit.file}, expected once")
        data = entry.data.replace(edit.find.encode(), edit.replace.encode())
        tree = tree.overlay(Tree([Entry(entry.path, entry.mode, data)]))
    return tree


def difference(before: Tree, after: Tree) -> tuple[Tree, tuple[str, ...]]:
    """What has to be laid over *before*, and deleted from it, for it to become *after*."""
    overlay = Tree(entry for path, entry in after.items() if before.get(path) != entry)
    return overlay, tuple(path for path in before if path not in after)
