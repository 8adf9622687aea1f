"""A large card checked in pieces, which several processes may share: its bytes, every blob, its own aggregates.

What is found wrong here, however little, is found again and named by the code that reads a whole card or record: the
quick way only has to refuse all that the other refuses, of what it looks at.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from harness.change import MANIFEST_TYPE
from harness.errors import VerifyError
from harness.ledger import TryState
from harness.outcomes import in_denominator
from harness.records import BlobRef, Cell, Plan, to_json, to_value
from harness.references import written_refs
from harness.store import Store, size_of_whole
from scoring.aggregate import FIGURES, Tally, aggregate_of, counting_of
from scoring.blobs import Blobs, read_record
from scoring.cardfile import ELEMENTS, LISTS, CardFile, Piece
from scoring.contrasts import contrasts
from scoring.evidence import TryEvidence
from scoring.factor import Factor
from scoring.planned import planned_count
from scoring.verify import Depth, Verification, first_difference, stamped

_LINES = b"application/x-ndjson"
_FOLLOWED = frozenset({MANIFEST_TYPE.encode(), _LINES})
"""What names blobs itself, besides attempt records: change manifests, and the lines of a web trace."""
_FACTORS = ("f", "q", "s", "c")
_REMEMBERED = 1 << 16
Tallies = dict[tuple[str, str], Tally]
"""By solver and task."""


@dataclass
class Found:
    """What came of one piece."""

    piece: Piece
    odd: str | None = None
    """Why the quick way can't say whether this is right; None if it can."""
    first: int = 0
    """The planned place of its first element, and how many there are; not of tries."""
    count: int = 0
    problems: list[str] = field(default_factory=list)
    tallies: Tallies = field(default_factory=dict)
    ended: array[int] = field(default_factory=lambda: array("I"))
    """The planned places that a try here ended with a record."""
    whole: bytearray = field(default_factory=bytearray)
    """The digests of the blobs that were found whole, 32 bytes each."""


class Checker:
    """One process's part: it checks pieces, and remembers which blobs it has seen.

    Args:
        data: the card's bytes.
        plan: the card's plan.
        store: where its evidence is.
    """

    def __init__(self, data: bytes | mmap.mmap, plan: Plan, store: Store) -> None:
        self._data = data
        self._store = store
        self._seen: dict[bytes, bytes] = {}
        self._slow = Blobs(store)
        self._factors: dict[str, Factor] = {}
        self._alike: dict[tuple[Any, ...], int] = {}
        self._solvers = {one.name: place for place, one in enumerate(plan.solvers)}
        self._tasks = {one.task: place for place, one in enumerate(plan.tasks)}

    def check(self, piece: Piece) -> Found:
        """Check one piece."""
        found = Found(piece)
        try:
            for value in piece.values(self._data):
                one: Any = ELEMENTS[piece.part].model_validate(self._with_factors(value))
                if isinstance(one, TryEvidence):
                    self._try(one, found)
                else:
                    self._planned(one, value, found)
            found.tallies = self._tallies()
        except (VerifyError, ValueError, KeyError, RecursionError) as error:
            found.odd = str(error)
        return found

    def _with_factors(self, value: Any) -> Any:
        """The same with its factors read, each kind of them once: that is most of what reading a cell takes."""
        return {**value, **{name: self._factor(value[name]) for name in _FACTORS}} if "verdicts" in value else value

    def _factor(self, value: Any) -> Factor:
        key = repr(value)
        known = self._factors.get(key)
        if known is None:
            known = Factor.model_validate(value)
            if len(self._factors) < _REMEMBERED:
                self._factors[key] = known
        return known

    def _planned(self, one: Any, value: Any, found: Found) -> None:
        place = self._place(one.cell)
        if found.count == 0:
            found.first = place
        if place != found.first + found.count:
            raise VerifyError(found.piece.part, "is not in planned order")
        found.count += 1
        if found.piece.part == "core":
            figures = [value[name]["figure"] if name in _FACTORS else value[name] for name in FIGURES]
            same = (one.cell.solver, one.cell.task, one.outcome, *[(each["value"], each["reason"]) for each in figures])
            self._alike[same] = self._alike.get(same, 0) + 1

    def _tallies(self) -> Tallies:
        """What the core's cells of a piece come to."""
        tallies: Tallies = {}
        for (solver, task, outcome, *figures), times in self._alike.items():
            tally = tallies.setdefault((solver, task), Tally())
            tally.outcomes[outcome] += times
            if in_denominator(outcome):
                for total, (value, reason) in zip(tally.figures.values(), figures, strict=True):
                    total.add(value, reason, times)
        self._alike.clear()
        return tallies

    def _place(self, cell: Cell) -> int:
        before = (cell.attempt - 1) * len(self._tasks) + self._tasks[cell.task]
        return before * len(self._solvers) + self._solvers[cell.solver]

    def _try(self, one: TryEvidence, found: Found) -> None:
        if one.record is None:
            return
        if one.state is TryState.ENDED:
            found.ended.append(self._place(one.cell))
        if not self._is_whole(one.record, found):
            before = len(self._slow.problems)
            read_record(one, self._slow)
            found.problems += self._slow.problems[before:]

    def _is_whole(self, record: BlobRef, found: Found) -> bool:
        """Whether a record and all that it needs is there, and of the size and digest that are stated."""
        waiting = [(record.digest[7:].encode(), b"", b"%d" % record.size)]
        while waiting:
            name, kind, size = waiting.pop()
            known = self._seen.get(name)
            if known is None:
                digest = f"sha256:{name.decode()}"
                try:
                    if kind == b"" or kind in _FOLLOWED:
                        data = self._store.get(digest)
                        more = written_refs(data)
                        if more is None:
                            return False
                        waiting += more
                        known = b"%d" % len(data)
                    else:
                        known = b"%d" % size_of_whole(self._store, digest)
                except VerifyError:
                    return False
                self._seen[name] = known
                found.whole += bytes.fromhex(name.decode())
            if known != size:
                return False
        return True


def verify_whole(
    file: CardFile, store: Store, spread: Callable[[Sequence[Piece]], Iterable[Found]], about: int
) -> Verification | None:
    """Check a card without working out what its evidence gives; None if only the whole card can be judged.

    Args:
        file: the card; that its digests agree was seen when it was opened.
        store: where its evidence is.
        spread: checks pieces, by as many :class:`Checker` as there are; what it found, in the pieces' order.
        about: into how many pieces to cut each list.
    """
    card = file.shell
    if to_json(card) != file.short:
        return None
    checked = Blobs(store)
    stamped(card, checked)
    total = planned_count(card.core.plan)
    if total > file.size:  # more cells than bytes: a forged number of attempts
        return None
    whole, ended, problems = {bytes.fromhex(name[7:]) for name in checked.whole}, bytearray(total), checked.problems
    at = dict.fromkeys(LISTS, 0)
    tallies: Tallies = {}
    summed: list[str] | None = None
    for found in spread([*chain.from_iterable(file.pieces(part, about) for part in LISTS)]):
        part = found.piece.part
        if found.odd is not None or (part != "stamp" and found.count and found.first != at[part]):
            return None
        at[part] += found.count
        _take(tallies, found.tallies)
        problems += found.problems
        for place in found.ended:
            ended[place] = 1
        whole.update(bytes(found.whole[n : n + 32]) for n in range(0, len(found.whole), 32))
        if part != "core" and at["core"] != total:
            return None
        if part != "core" and summed is None:  # the other processes are at the rest by now
            summed = list(_sums(file, tallies))
    if at["core"] != total or at["measured"] != total:
        return None
    missing = ended.find(0)
    if missing >= 0:
        problems.append(f"stamp.evidence: cell {card.core.plan.cells()[missing].key} has no final record")
    return Verification(card, (*dict.fromkeys(problems), *(summed or ())), len(whole), Depth.BYTES)


def _take(tallies: Tallies, more: Tallies) -> None:
    for key, tally in more.items():
        tallies.setdefault(key, Tally()).take(tally)


def _sums(file: CardFile, tallies: Tallies) -> Iterator[str]:
    """Where the core's aggregates and comparisons are not what its cells give."""
    core = file.shell.core
    rows = {
        solver.name: {task.task: tallies.get((solver.name, task.task), Tally()) for task in core.plan.tasks}
        for solver in core.plan.solvers
    }
    known = core.statistics > 0
    computed = {
        "aggregates": {name: to_value(aggregate_of(row, with_rates=known)) for name, row in rows.items()},
        "comparisons": [to_value(one) for one in contrasts({name: counting_of(row) for name, row in rows.items()})]
        if known
        else [],
    }
    stated = to_value(core)
    for name, value in computed.items():
        place = first_difference(value, stated.get(name, []), f"core.{name}")
        if place is not None:
            yield f"{place}: is not what the card's own cells give"
