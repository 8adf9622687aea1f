"""A card's core against the core that its evidence gives when it is graded again: which fields differ, and why, if any.

Nothing is graded here: what was is handed in as records, and the core is made of them as a card's is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from harness.digest import Digest, canonical, digest
from harness.evidence import AttemptRecord
from harness.records import Cell, Count, Record, to_value
from harness.untrusted import clean_text
from scoring.core import Core, CoreCell, make_core
from scoring.evidence import Evidence

RERUNS = 3
"""How often a cell that differs is graded once more."""
_SHOWN = 120
_CODE = ("q", "s", "combined", "combined_classic")
"""Fields of a cell that come from the scanner's tools alone, where nothing else of it differs."""


class Basis(StrEnum):
    """What a cell's result rests on in a reproduction."""

    REGRADED = "regraded"
    """Its change was graded again."""
    REMEMBERED = "remembered"
    """The same change was graded again here before, and gave what its card said."""
    RECORDED = "recorded"
    """Taken from the evidence: no grading can give it, or it was not among the sampled ones."""


class Cause(StrEnum):
    """The likely cause of a difference."""

    IMAGE = "image"
    """It was graded in an image that no lock here gives, or that was built from other versions than its lock's."""
    TOOL = "tool"
    """The scanner's tools say something else of the same change."""
    TASK = "task"
    """Its groups say something else of the same change in the same image, each time: the task depends on something
    outside of it, or the card's verdict was not theirs."""
    NONDETERMINISM = "nondeterminism"
    """Grading the same change again gives now this, now that."""


class Difference(Record):
    """A field of the core with another value, and the values as canonical JSON, cut."""

    field: str
    card: str
    here: str
    cell: str | None
    """The cell that it is of; None for a total, which follows from the cells."""
    cause: Cause
    flaky: bool
    """Whether the cell (for a total: any cell) gave different results when it was graded again."""


class CellResult(Record):
    """What one cell rests on, and, where that needs saying, why."""

    cell: Cell
    basis: Basis
    note: str = ""
    flaky: bool | None = None
    """None unless it differed, and so was graded again and again."""


class Part(Record):
    """How many cells were graded again of how many, chosen by which seed."""

    cells: Count
    of: Count
    seed: Count


class Reproduction(Record):
    """What came of it. ``reproduced`` is None for a sample that agrees: it says nothing of the rest."""

    card: Digest
    core_digest: Digest
    core_digest_here: Digest | None
    """None for a sample."""
    reproduced: bool | None
    part: Part | None
    cells: tuple[CellResult, ...]
    differences: tuple[Difference, ...]

    @property
    def agrees(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def sample(cells: Sequence[Cell], count: int, seed: int) -> frozenset[str]:
    """The keys of *count* cells, by the order of ``sha256`` over the seed and the key: the same on every machine."""
    ranked = sorted((one.key for one in cells), key=lambda key: digest([seed, key]))
    return frozenset(ranked[:count])


def with_records(evidence: Evidence, redone: Mapping[str, AttemptRecord]) -> Evidence:
    """The evidence with other records for the tries that ended some cells. *redone* is by cell key."""
    records = dict(evidence.records)
    tries = list(evidence.tries)
    for place, one in enumerate(tries):
        last = evidence.of_cell(one.cell)[-1]
        if one.cell.key in redone and one is last and one.record is not None:
            name = digest(["redone", one.cell.key])
            records[name] = redone[one.cell.key]
            tries[place] = one.model_copy(update={"record": one.record.model_copy(update={"digest": name})})
    return replace(evidence, tries=tuple(tries), records=records)


def core_of(evidence: Evidence, redone: Mapping[str, AttemptRecord]) -> Core:
    """The core that the evidence gives with what grading gave now."""
    return make_core(with_records(evidence, redone))


def differing(card: Core, here: Core) -> tuple[str, ...]:
    """The keys of the cells whose results differ."""
    return tuple(one.cell.key for one, other in zip(card.cells, here.cells, strict=True) if one != other)


def cause_of(card: CoreCell, here: CoreCell, *, flaky: bool, foreign_image: bool) -> Cause:
    """Why a cell differs, most likely."""
    fields = {name for name in CoreCell.model_fields if getattr(card, name) != getattr(here, name)}
    if flaky:
        return Cause.NONDETERMINISM
    if foreign_image:
        return Cause.IMAGE
    return Cause.TOOL if fields <= set(_CODE) else Cause.TASK


def explain(card: Core, here: Core, causes: Mapping[str, Cause]) -> Iterator[Difference]:
    """Every differing field of the core. *causes* is by cell key; a total's cause is that of the first cell of it."""
    keys = [one.cell.key for one in card.cells]
    flaky = Cause.NONDETERMINISM in causes.values()
    for path, was, now in _leaves(to_value(card), to_value(here), ""):
        at = path.split("]")[0].removeprefix("cells[") if path.startswith("cells[") else ""
        cell = keys[int(at)] if at.isdigit() else None
        own = causes.get(cell or "", next(iter(causes.values()), Cause.TASK))
        yield Difference(
            field=f"core.{path}",
            card=_shown(was),
            here=_shown(now),
            cell=cell,
            cause=own,
            flaky=own is Cause.NONDETERMINISM if cell else flaky,
        )


_ABSENT = object()


def _leaves(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two values differ, as deep as they are alike in shape."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _leaves(one.get(key, _ABSENT), other.get(key, _ABSENT), f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from _leaves(a, b, f"{path}[{index}]")
    elif one != other:
        yield path, one, other


def _shown(value: Any) -> str:
    return "absent" if value is _ABSENT else clean_text(canonical(value), _SHOWN)
