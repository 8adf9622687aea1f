"""A card's cells graded again: which of them, by what memory, and what to make of one that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

from harness.digest import digest
from harness.errors import UserError
from harness.evidence import AttemptRecord
from harness.oci.obtain import Obtained
from harness.outcomes import Outcome
from harness.progress import Finished, Progress
from harness.records import Cell, Plan, to_value
from harness.regraded import Memory
from harness.regrading import LIMIT_REACHED, Redone, Regrader, as_recorded, key_of, recorded_since
from harness.suites.task import Task
from scoring.card import Card
from scoring.core import Core
from scoring.evidence import Evidence
from scoring.reproduce import (
    RERUNS,
    Basis,
    Cause,
    CellResult,
    Part,
    Reproduction,
    cause_of,
    core_of,
    differing,
    explain,
    sample,
)
from trialbox.material import grading_images


@dataclass(frozen=True)
class Asked:
    """How to reproduce: see ``trialbox reproduce --help``."""

    sample: int | None = None
    seed: int = 0
    fresh: bool = False
    concurrency: int | None = None
    suite: str | None = None

    def check(self) -> None:
        """Refuse numbers out of range.

        Raises:
            UserError: one is.
        """
        for name, value, least in (("--sample", self.sample, 1), ("--concurrency", self.concurrency, 1)):
            if value is not None and not least <= value <= 1_000_000:
                raise UserError(name, f"{value} is out of range", f"give {least} or more")
        if not 0 <= self.seed <= 2**53 - 1:
            raise UserError("--seed", f"{self.seed} is out of range", "give 0 or more")


@dataclass
class Work:
    """One reproduction under way."""

    card: Card
    evidence: Evidence
    tasks: Mapping[str, Task]
    images: Sequence[Obtained]
    regrader: Regrader
    memory: Memory
    asked: Asked
    at_once: int
    progress: Progress
    notes: dict[str, CellResult] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        """The card's plan."""
        return self.card.core.plan

    def result(self) -> Reproduction:
        """Grade, compare, and grade again what differs."""
        cells = self.plan.cells()
        chosen = frozenset(cell.key for cell in cells)
        if self.asked.sample is not None:
            chosen = sample(cells, self.asked.sample, self.asked.seed)
        redone = self._redone([cell for cell in cells if cell.key in chosen])
        for cell in cells:
            if cell.key not in chosen:
                self.notes[cell.key] = CellResult(cell=cell, basis=Basis.RECORDED, note="not in the sample")
        mine = {key: as_recorded(self._record(key), one) for key, one in redone.items()}
        here = core_of(self.evidence, mine)
        card = self.card.core
        different = differing(card, here)
        self._remember(redone, set(different))
        causes = self._causes(different, mine, here)
        differences = tuple(explain(card, here, causes))
        partial = len(chosen) < len(cells)
        return Reproduction(
            card=self.card.id,
            core_digest=self.card.core_digest,
            core_digest_here=None if partial else digest(to_value(here)),
            reproduced=False if differences else None if partial else True,
            part=Part(cells=len(chosen), of=len(cells), seed=self.asked.seed) if partial else None,
            cells=tuple(self.notes[cell.key] for cell in cells),
            differences=differences,
        )

    def _record(self, key: str) -> AttemptRecord:
        return self._records[key]

    @cached_property
    def _records(self) -> Mapping[str, AttemptRecord]:
        return {cell.key: self.evidence.final(cell) for cell in self.plan.cells()}

    def _redone(self, cells: Sequence[Cell]) -> dict[str, Redone]:
        """What grading gives now, by cell; what can't be graded, or is remembered, is noted to be so."""
        groups: dict[str, list[Cell]] = {}
        done: dict[str, Redone] = {}
        for cell in cells:
            record = self._record(cell.key)
            reason = recorded_since(record)
            if reason:
                self.notes[cell.key] = CellResult(cell=cell, basis=Basis.RECORDED, note=reason)
                continue
            key = self._key(cell)
            known = None if self.asked.fresh else self.memory.get(key)
            note = LIMIT_REACHED if record.outcome is Outcome.TIMEOUT else ""
            basis = Basis.REGRADED if known is None else Basis.REMEMBERED
            self.notes[cell.key] = CellResult(cell=cell, basis=basis, note=note)
            if known is not None:
                done[cell.key] = known
            else:
                groups.setdefault(cell.key if self.asked.fresh else key, []).append(cell)
        self.progress.planned(len(groups), 0)
        regrader = self.regrader.afresh() if self.asked.fresh else self.regrader
        firsts = [group[0] for group in groups.values()]
        for group, redone in zip(groups.values(), self._grade(firsts, regrader), strict=True):
            done |= {cell.key: redone for cell in group}
        return done

    def _grade(self, cells: Sequence[Cell], regrader: Regrader) -> list[Redone]:
        def work(cell: Cell) -> Redone:
            self.progress.started(cell, 1)
            record = self._record(cell.key)
            redone = regrader.redo(record, self.tasks[cell.task])
            self.progress.finished(_finished(as_recorded(record, redone)))
            return redone

        with ThreadPoolExecutor(max_workers=self.at_once) as pool:
            try:
                return [future.result() for future in [pool.submit(work, cell) for cell in cells]]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _causes(self, different: Sequence[str], mine: Mapping[str, AttemptRecord], here: Core) -> dict[str, Cause]:
        """Grade each differing cell again and again, and say why it differs."""
        if not different:
            return {}
        self.progress.note(f"{len(different)} cells differ; grading each {RERUNS} times more")
        by_key = {cell.key: (place, cell) for place, cell in enumerate(self.plan.cells())}
        cells = [by_key[key][1] for key in different]
        flaky: set[str] = set()
        self.progress.planned(RERUNS * len(cells), 0)
        for _ in range(RERUNS):
            again = zip(different, self._grade(cells, self.regrader.afresh()), strict=True)
            records = {key: as_recorded(self._record(key), redone) for key, redone in again}
            core = core_of(self.evidence, {**mine, **records})
            flaky |= {key for key in different if core.cells[by_key[key][0]] != here.cells[by_key[key][0]]}
        causes = {}
        for key in different:
            place, cell = by_key[key]
            self.notes[key] = self.notes[key].model_copy(update={"flaky": key in flaky})
            used = [one for one in self.images if one.image.ref.name in grading_images(self.tasks[cell.task])]
            foreign = any(one.image.ref.drift or (one.image.ref.locked and not one.published) for one in used)
            card = self.card.core.cells[place]
            causes[key] = cause_of(card, here.cells[place], flaky=key in flaky, foreign_image=foreign)
        return causes

    def _remember(self, redone: Mapping[str, Redone], different: set[str]) -> None:
        """Only what gave what the card says: a difference may be the host's, and is looked at afresh each time."""
        for key, one in redone.items():
            if key not in different and self.notes[key].basis is Basis.REGRADED:
                self.memory.keep(self._key(self.notes[key].cell), one)

    def _key(self, cell: Cell) -> str:
        ref = next(ref for ref in self.plan.tasks if ref.task == cell.task)
        names = {"base", "scanner", *grading_images(self.tasks[cell.task])}
        images = {one.image.ref.name: one.image.ref.id for one in self.images if one.image.ref.name in names}
        return key_of(self._record(cell.key), ref, images)


def _finished(record: AttemptRecord) -> Finished:
    return Finished(
        cell=record.cell,
        attempt_try=1,
        outcome=record.outcome,
        terminal=True,
        energy_uj=None,
        energy_reliable=False,
        wall_us=record.grade.wall_us if record.grade else 0,
    )
