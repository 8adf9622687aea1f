"""Mutants of the reference: one small change each, in the lines that the reference added or changed.

A task's groups must tell each of them from the reference, or a reviewer says in the task why nothing can.
"""

from __future__ import annotations

import difflib
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.suites.admission.operators import Edit, edits_of
from harness.suites.formats.common import EquivalentSpec
from harness.suites.tree import LINK, Entry, Tree

CHOSEN = 16
"""Mutants that are graded, besides those recorded as equivalent."""

LEAST = 10
"""Mutants that must have been killed."""

MOST_EQUIVALENT = 6
"""Recorded equivalents of one task: more of them speak against the reference or the tests."""


@dataclass(frozen=True)
class Mutant:
    """One changed file. ``line`` is the line of the reference that is changed, ``was`` and ``now`` its text."""

    id: str
    path: str
    line: int
    was: str
    now: str
    edit: Edit

    def apply(self, reference: Tree) -> Tree:
        """The reference's tree with this change in it."""
        entry = reference[self.path]
        return reference.overlay(Tree([Entry(entry.path, entry.mode, self.edit.apply(entry.data))]))


def mutants_of(before: Tree, reference: Tree) -> tuple[Mutant, ...]:
    """Every mutant, in order of path and place. Links, deleted files and what is not Python have none."""
    made = []
    for path, entry in reference.items():
        if path.endswith(".py") and entry.mode != LINK and before.get(path) != entry:
            old = before[path].data if path in before else b""
            wanted = changed_lines(old, entry.data)
            made += [
                mutant
                for mutant in (_mutant(path, entry.data, edit) for edit in edits_of(entry.data))
                if mutant.line in wanted
            ]
    return tuple(sorted({one.id: one for one in made}.values(), key=lambda one: (one.path, one.edit.start, one.id)))


def changed_lines(old: bytes, new: bytes) -> frozenset[int]:
    """The lines of *new*, from 1, that a comparison by lines finds added or changed."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return frozenset(
        line + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for line in range(start, end)
    )


def choose(mutants: Iterable[Mutant], recorded: Sequence[EquivalentSpec], count: int = CHOSEN) -> tuple[Mutant, ...]:
    """The *count* mutants to be killed: over as many lines as possible, in an order that the ids alone decide.

    In place of those recorded as equivalent the next ones in that order are taken.
    """
    named = {one.mutant for one in recorded}
    by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for mutant in sorted(mutants, key=_order):
        by_line[mutant.path, mutant.line].append(mutant)
    rounds = sorted(((place, one) for line in by_line.values() for place, one in enumerate(line)), key=_round)
    return tuple(one for _, one in rounds if one.id not in named)[:count]


def _round(item: tuple[int, Mutant]) -> tuple[int, str]:
    place, mutant = item
    return place, _order(mutant)


def _order(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.id.encode()).hexdigest()


def _mutant(path: str, source: bytes, edit: Edit) -> Mutant:
    start = source.rfind(b"\n", 0, edit.start) + 1
    was = _line(source, start)
    now = _line(edit.apply(source), start)
    about = "\0".join((path, edit.operator, was, str(edit.start - start), str(edit.end - edit.start), now))
    line = source.count(b"\n", 0, edit.start) + 1
    name = f"{path}:{line}:{edit.operator}:{hashlib.sha256(about.encode()).hexdigest()[:8]}"
    return Mutant(name, path, line, was, now, edit)


def _line(source: bytes, start: int) -> str:
    end = source.find(b"\n", start)
    return source[start : end if end >= 0 else len(source)].decode("utf-8", "replace").strip()
