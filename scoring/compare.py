"""Two cards side by side: what the second does better or worse than the first, as far as the cells allow.

Every difference is the second minus the first. Scores are paired over cells that were scored on both sides. A measured
value is told with its difference, or with the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

from harness.digest import Digest
from harness.errors import GateError, UserError
from harness.outcomes import Outcome
from harness.records import Count, Record
from scoring import comparable
from scoring.board import FIGURES, Board, Scored
from scoring.differences import MeasuredDifference, measured_differences
from scoring.figures import DecimalString, decimal
from scoring.statistics.paired import Paired, Verdict, holm, paired

LEVEL = Fraction(5, 100)
"""Over several pairs, a difference whose adjusted p-value is larger does not separate."""
SOLVED = "solved"
COMBINED = "combined"
_SCANNED = {"q", "s", COMBINED}


class Change(StrEnum):
    """How a task went on the second card against the first."""

    GAINED = "gained"
    LOST = "lost"
    SAME = "same"


class Side(Record):
    """Which card it is."""

    id: Digest
    core_digest: Digest
    run: str
    created_us: Count
    mode: str
    provider: str
    partial: bool


class TaskRow(Record):
    """One task of one pair, over ``cells`` that were scored on both sides. ``flipped``: from all to none, or back."""

    task: str
    cells: Count
    first_solved: Count
    second_solved: Count
    first_f: DecimalString | None
    second_f: DecimalString | None
    change: Change
    flipped: bool


class Difference(Record):
    """One figure: paired, or the reason why not. ``name`` is ``solved`` or a factor's; ``combined`` is in 0..1 here."""

    name: str
    paired: Paired | None
    reason: str = ""


class Pair(Record):
    """A solver of the first card against one of the second."""

    first: str
    second: str
    cells: Count
    """Cells that were scored on both sides: what every paired figure is over."""
    planned_first: Count
    planned_second: Count
    tasks: tuple[TaskRow, ...]
    gained: tuple[str, ...]
    """Tasks that the second solved more often."""
    lost: tuple[str, ...]
    differences: tuple[Difference, ...]
    adjusted_p: DecimalString | None
    """Of ``solved``: the paired test's, which the interval is of too, by Holm's method over all pairs here; None where
    nothing was scored on both sides."""
    verdict: Verdict
    """Of the second solver against the first, by ``solved``."""
    measured: tuple[MeasuredDifference, ...]
    notes: tuple[str, ...]

    @property
    def solved(self) -> Difference:
        """The difference that the verdict is by."""
        return next(one for one in self.differences if one.name == SOLVED)


class Comparison(Record):
    """Two cards that may be compared."""

    schema_version: int = 1
    first: Side
    second: Side
    pairs: tuple[Pair, ...]
    only_first: tuple[str, ...]
    """Solvers of the first card that are in no pair."""
    only_second: tuple[str, ...]
    withheld: tuple[str, ...]
    """Why differences of time and energy are withheld; none: they are not."""
    notes: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """Whether some solver of the second card is worse than its match on the first."""
        return any(pair.verdict is Verdict.WORSE for pair in self.pairs)


def compare(first: Board, second: Board, chosen: Sequence[str] = ()) -> Comparison:
    """Compare the second card with the first.

    Args:
        first: the card that is compared against.
        second: the card that is compared.
        chosen: which solver of the first with which of the second, ``X`` or ``X:Y``; none: those of the same name.

    Raises:
        GateError: the cards may not be compared; every reason is in it.
        UserError: a chosen solver is not on its card, or no solver is on both.
    """
    reasons = comparable.refusals(first, second)
    if reasons:
        cards = f"{first.id[:19]} and {second.id[:19]}"
        remedy = "compare cards of one suite version, task list, formula, judge protocol and mode"
        raise GateError(f"cards {cards}", "; ".join(reasons), remedy)
    names = matched(first, second, chosen)
    withheld = comparable.withheld(first, second)
    pairs = [_pair(first, second, mine, theirs, withheld) for mine, theirs in names]
    return Comparison(
        first=_side(first),
        second=_side(second),
        pairs=tuple(_adjusted(pairs)),
        only_first=tuple(one.name for one in first.plan.solvers if one.name not in {mine for mine, _ in names}),
        only_second=tuple(one.name for one in second.plan.solvers if one.name not in {theirs for _, theirs in names}),
        withheld=withheld,
        notes=comparable.remarks(first, second),
    )


def matched(first: Board, second: Board, chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Which solver of the first card with which of the second.

    Raises:
        UserError: as in compare().
    """
    mine, theirs = ([solver.name for solver in board.plan.solvers] for board in (first, second))
    if not chosen:
        both = [(name, name) for name in mine if name in theirs]
        if not both:
            remedy = f"match them by --solver X:Y; the cards have {', '.join(mine)} and {', '.join(theirs)}"
            raise UserError("compare", "no solver is on both cards", remedy)
        return both
    return [_match(text, mine, theirs) for text in dict.fromkeys(chosen)]


def _match(text: str, mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str]:
    """``X`` or ``X:Y``. A name may hold colons itself, so each of them is tried."""
    cuts = [(text, text), *((text[:n], text[n + 1 :]) for n, mark in enumerate(text) if mark == ":")]
    found = [(one, two) for one, two in cuts if one in mine and two in theirs]
    if len(found) != 1:
        known = f"the first card has {', '.join(mine)}; the second {', '.join(theirs)}"
        raise UserError("--solver", f"{text!r} is no X of the first card, or X:Y with Y of the second", known)
    return found[0]


def _side(board: Board) -> Side:
    return Side(
        id=board.id,
        core_digest=board.core_digest,
        run=board.run.id,
        created_us=board.run.created_us,
        mode=board.plan.mode.value,
        provider=board.plan.provider,
        partial=board.plan.partial,
    )


# -------------------------------------------------------------------------------------------------------------- scores

Both = Mapping[str, Sequence[tuple[Scored, Scored]]]
"""By task, the cells that were scored on both sides."""


def _pair(first: Board, second: Board, mine: str, theirs: str, withheld: Sequence[str]) -> Pair:
    both = _both(first, second, mine, theirs)
    rows = tuple(_row(task, cells) for task, cells in both.items())
    same_scanner = comparable.same_scanner(first, second)
    differences = tuple(
        Difference(name=name, paired=None, reason="Q and S were made by different tools")
        if name in _SCANNED and not same_scanner
        else _difference(name, both)
        for name in (SOLVED, *FIGURES)
    )
    solved = differences[0].paired
    return Pair(
        first=mine,
        second=theirs,
        cells=sum(len(cells) for cells in both.values()),
        planned_first=len(first.plan.tasks) * first.plan.attempts,
        planned_second=len(second.plan.tasks) * second.plan.attempts,
        tasks=rows,
        gained=tuple(row.task for row in rows if row.change is Change.GAINED),
        lost=tuple(row.task for row in rows if row.change is Change.LOST),
        differences=differences,
        adjusted_p=None if solved is None else solved.p_paired,
        verdict=Verdict.NOT_SEPARATED if solved is None else solved.verdict,
        measured=tuple(measured_differences(first, second, mine, theirs, withheld)),
        notes=tuple(_notes(first, second, mine, theirs)),
    )


def _both(first: Board, second: Board, mine: str, theirs: str) -> Both:
    ours, others = first.cells.get(mine, {}), second.cells.get(theirs, {})
    found: dict[str, list[tuple[Scored, Scored]]] = {}
    for ref in first.plan.tasks:
        left, right = ours.get(ref.task, {}), others.get(ref.task, {})
        pairs = [(left[n], right[n]) for n in sorted(left.keys() & right.keys())]
        found[ref.task] = [(one, two) for one, two in pairs if one.counts and two.counts]
    return found


def _row(task: str, cells: Sequence[tuple[Scored, Scored]]) -> TaskRow:
    before, after = (sum(cell[side].outcome is Outcome.SOLVED for cell in cells) for side in (0, 1))
    change = Change.GAINED if after > before else Change.LOST if after < before else Change.SAME
    return TaskRow(
        task=task,
        cells=len(cells),
        first_solved=before,
        second_solved=after,
        first_f=_mean([one.figures[0] for one, _ in cells]),
        second_f=_mean([two.figures[0] for _, two in cells]),
        change=change,
        flipped=bool(cells) and {before, after} == {0, len(cells)},
    )


def _mean(values: Sequence[Fraction | None]) -> str | None:
    known = [value for value in values if value is not None]
    return decimal(sum(known, Fraction()) / len(known)) if known and len(known) == len(values) else None


def _difference(name: str, both: Both) -> Difference:
    pairs = {task: [_values(name, one, two) for one, two in cells] for task, cells in both.items()}
    known = {
        task: [(one, two) for one, two in cells if one is not None and two is not None] for task, cells in pairs.items()
    }
    if not any(known.values()):
        reason = "no cell was scored on both sides" if not any(both.values()) else "no cell has it on both sides"
        return Difference(name=name, paired=None, reason=reason)
    before = {task: [one for one, _ in cells] for task, cells in known.items() if cells}
    after = {task: [two for _, two in cells] for task, cells in known.items() if cells}
    return Difference(name=name, paired=paired(after, before))


def _values(name: str, one: Scored, two: Scored) -> tuple[Fraction | None, Fraction | None]:
    if name == SOLVED:
        return one.solved, two.solved
    place = FIGURES.index(name)
    first, second = one.figures[place], two.figures[place]
    if name == COMBINED:
        return None if first is None else first / 100, None if second is None else second / 100
    return first, second


def _adjusted(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs with Holm's adjustment: with several of them, one false finding among all is held to 5%."""
    if len(pairs) < 2:
        yield from pairs
        return
    tested = [pair for pair in pairs if pair.adjusted_p is not None]
    adjusted = iter(holm([Fraction(pair.adjusted_p or 1) for pair in tested]))
    for pair in pairs:
        if pair.adjusted_p is None:
            yield pair
            continue
        p_value = next(adjusted)
        kept = pair.verdict if p_value <= LEVEL else Verdict.NOT_SEPARATED
        yield pair.model_copy(update={"adjusted_p": decimal(p_value), "verdict": kept})


def _notes(first: Board, second: Board, mine: str, theirs: str) -> Iterator[str]:
    one, two = first.solver(mine), second.solver(theirs)
    for label, field in (("model", "model"), ("harness", "harness"), ("effort asked for", "effort_requested")):
        before, after = getattr(one, field), getattr(two, field)
        if before != after:
            yield f"{label}: {before} against {after}"
    if one.manifest != two.manifest and mine == theirs:
        yield "of one name, and defined by different manifests"
