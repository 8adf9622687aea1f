"""Hunks: the lines of one file that a change replaces, found by comparison, named by digest, applied by position."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from itertools import groupby

from harness.digest import Digest, digest
from harness.suites.parse import FileModel
from harness.suites.paths import RelativePath
from harness.suites.tree import LINK, REGULAR, Entry, Tree


class Hunk(FileModel):
    """Lines of *file* from *start* (0 is the first), exactly ``removed``, become ``added``. Lines keep their ends."""

    file: RelativePath
    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def sha256(self) -> Digest:
        """The digest of ``[start, removed, added]``; the file stands beside it in a task's file."""
        return digest([self.start, list(self.removed), list(self.added)])

    @property
    def changed_lines(self) -> int:
        """Removed and added lines together."""
        return len(self.removed) + len(self.added)


def cut(before: Tree, after: Tree, file: str) -> Iterator[Hunk]:
    """The hunks that lead from *file* in one tree to *file* in the other, from the top, with no line of context.

    A file that is absent on one side has no lines there.

    Raises:
        ValueError: it is in neither, a link, or not UTF-8.
    """
    if file not in before and file not in after:
        raise ValueError(f"{file} is in neither release")
    old, new = _lines(before, file), _lines(after, file)
    # autojunk would make the hunks of a long file depend on how often its lines repeat
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Hunk(file=file, start=i1, removed=tuple(old[i1:i2]), added=tuple(new[j1:j2]))


def apply(before: Tree, hunks: Iterable[Hunk]) -> Tree:
    """*before* with the hunks applied; each counts its lines in *before*, so their order doesn't matter.

    Raises:
        ValueError: a hunk's removed lines are not where it says, or two hunks overlap.
    """
    changed: list[Entry] = []
    for file, group in groupby(sorted(hunks, key=lambda one: (one.file, one.start)), key=lambda one: one.file):
        lines = _lines(before, file)
        for hunk in reversed(list(group)):
            end = hunk.start + len(hunk.removed)
            if tuple(lines[hunk.start : end]) != hunk.removed or hunk.start > len(lines):
                raise ValueError(f"a hunk does not fit {file} at line {hunk.start + 1}")
            lines[hunk.start : end] = hunk.added
        mode = before[file].mode if file in before else REGULAR
        changed.append(Entry(file, mode, "".join(lines).encode()))
    return before.overlay(Tree(changed))


def _lines(tree: Tree, file: str) -> list[str]:
    if file not in tree:
        return []
    entry = tree[file]
    if entry.mode == LINK:
        raise ValueError(f"{file} is a link")
    try:
        return entry.data.decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not UTF-8") from None
