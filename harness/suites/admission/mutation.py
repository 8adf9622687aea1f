"""Mutants graded: each must score below 1.0, but those that a reviewer recorded as equivalent."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

from harness.evidence import GradeRecord
from harness.suites.admission.bench import Bench
from harness.suites.admission.mutants import LEAST, MOST_EQUIVALENT, Mutant, choose, mutants_of
from harness.suites.admission.records import MutantResult, Mutation, failures, score
from harness.suites.task import Task
from harness.suites.tree import Tree

_SLOWER = 20
_LEAST_S = 8
"""A mutant has what the reference took, this many times, and at least so many seconds; one that needs longer is told
from the reference by that. An endless loop would otherwise take the whole grade limit each time."""


class Mutating:
    """All mutants of one task, being graded.

    Args:
        bench: where.
        task: the task.
        reference: the whole tree of its reference.
        took_us: what the reference's gradings took at most.
    """

    def __init__(self, bench: Bench, task: Task, reference: Tree, took_us: int) -> None:
        self._recorded = {one.mutant: one for one in task.spec.equivalent}
        self._all = mutants_of(task.before, reference)
        chosen = choose(self._all, task.spec.equivalent)
        recorded = tuple(one for one in self._all if one.id in self._recorded)
        seconds = max(_LEAST_S, -(-_SLOWER * took_us // 1_000_000))
        self._graded: list[tuple[Mutant, Future[GradeRecord]]] = [
            (one, bench.submit(bench.grade, task, one.apply(reference), wall_s=seconds)) for one in (*chosen, *recorded)
        ]

    def result(self) -> Mutation:
        """What came of them, waiting for it.

        Raises:
            InfraError: a grading failed.
        """
        results = tuple(self._result(mutant, future.result()) for mutant, future in self._graded)
        return Mutation(
            exist=len(self._all),
            total=len(results),
            killed=sum(bool(one.killed_by) for one in results),
            equivalent=sum(bool(one.equivalent) for one in results),
            results=results,
        )

    def problems(self, mutation: Mutation) -> Iterator[str]:
        """One line for each thing that is wrong with the mutants or with what is recorded of them."""
        killable = mutation.total - mutation.equivalent
        if killable < LEAST:
            yield f"{killable} in the reference's changed lines, {LEAST} are needed"
        if len(self._recorded) > MOST_EQUIVALENT:
            yield f"{len(self._recorded)} are recorded as equivalent, {MOST_EQUIVALENT} at most may be"
        known = {one.id: one for one in self._all}
        for name, recorded in self._recorded.items():
            if name not in known:
                yield f"recorded as equivalent, but there is no such mutant: {name}"
            elif recorded.change.strip() != known[name].now:
                yield f"recorded as equivalent with another change than it makes: {name} is {known[name].now!r}"
        for one in mutation.results:
            if one.equivalent and one.killed_by:
                yield f"recorded as equivalent, but {one.killed_by} tells it from the reference: {one.id}"
            if not one.equivalent and not one.killed_by:
                yield f"survives: {one.id}: {one.was!r} -> {one.now!r}"

    def _result(self, mutant: Mutant, record: GradeRecord) -> MutantResult:
        recorded = self._recorded.get(mutant.id)
        killed = record.rejection is not None or score(record.verdicts) < 1
        return MutantResult(
            id=mutant.id,
            was=mutant.was,
            now=mutant.now,
            killed_by=", ".join(failures(record)) if killed else "",
            equivalent=recorded.reason if recorded else "",
        )
