"""Whether the reference behaves the same in other surroundings: other hash seeds, dates, zones, core counts, and with
every file closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from harness.digest import loads
from harness.evidence import GradeRecord
from harness.store import Store
from harness.suites.admission.bench import Bench
from harness.suites.admission.clock import closed, variations
from harness.suites.admission.purity import impurities
from harness.suites.admission.records import Determinism, Grading, Purity, failures, score, spelled
from harness.suites.formats.reply import ReplyTask
from harness.suites.task import Task
from harness.suites.tree import Tree


class Varying:
    """The reference's gradings under other conditions, begun.

    Args:
        bench: where.
        task: the task.
        reference: the whole tree of its reference.
        usual: a grading under the usual conditions, which the others are compared with.
    """

    def __init__(self, bench: Bench, task: Task, reference: Tree, usual: GradeRecord) -> None:
        self._bench, self._task, self._reference, self._usual = bench, task, reference, usual
        host_cores = bench.tools.engine.info.cpus
        self._varied: list[tuple[str, Future[GradeRecord]]] = [
            (one.about, bench.submit(bench.grade, task, reference, one.conditions, cores=one.cores))
            for one in variations(bench.clock, task.limits.cpus, host_cores)
        ]
        self._closed = (
            bench.submit(bench.grade, task, reference, closed()) if isinstance(task.spec, ReplyTask) else None
        )

    def determinism(self) -> Determinism:
        """In what the gradings differed from the usual one.

        Raises:
            InfraError: a grading failed.
        """
        store = self._bench.tools.store
        differences = [
            f"under {about}: {difference}"
            for about, future in self._varied
            for difference in differing(self._usual, future.result(), store)
        ]
        conditions = ("as usual", *(about for about, _ in self._varied))
        return Determinism(conditions=conditions, differences=tuple(differences))

    def purity(self) -> Purity | None:
        """What a static look and closed files say; None for formats that don't have to be pure.

        Raises:
            InfraError: the grading failed.
        """
        if self._closed is None:
            return None
        record = self._closed.result()
        return Purity(impurities=tuple(impurities(self._task.before, self._reference)), closed=Grading.of(record))


def purity_faults(purity: Purity) -> Iterator[str]:
    """One line for each thing that makes it impure."""
    yield from purity.impurities
    if purity.closed.f != "1.0":
        failed = ", ".join(purity.closed.failed)
        yield f"scores {purity.closed.f} with every file closed and no thread to be had: {failed} failed"


def differing(usual: GradeRecord, other: GradeRecord, store: Store) -> Iterator[str]:
    """In what two gradings of one tree differ: verdicts, and what host-held groups observed, byte for byte."""
    if score(other.verdicts) != score(usual.verdicts) or failures(other) != failures(usual):
        yield f"scores {spelled(score(other.verdicts))}, failing {', '.join(failures(other)) or 'nothing'}"
        return
    ours, theirs = _observed(usual, store), _observed(other, store)
    if ours != theirs:
        yield "the observations of host-held groups are not the same, though every check passes"


def _observed(record: GradeRecord, store: Store) -> Any:
    if record.observations is None:
        return None
    return loads(store.get(record.observations.digest)).get("host_held")
