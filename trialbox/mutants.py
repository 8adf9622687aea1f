"""The mutants of tasks as ``suite check --mutants`` lists them, so that an author can name one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import BuiltImage, ensure
from harness.replies import candidate_tree
from harness.suites.admission.mutants import choose, mutants_of
from harness.suites.task import Task
from harness.suites.tree import Tree
from trialbox import display, places
from trialbox.checking import CheckRequest, chosen


@dataclass(frozen=True)
class _Bench:
    engine: Engine
    images: Mapping[str, BuiltImage]
    owner: str


def list_mutants(request: CheckRequest) -> list[dict[str, Any]]:
    """Every mutant of the tasks of a request: ``task``, ``id``, ``was``, ``now``, whether it is ``chosen`` for grading,
    and the recorded reason if it is ``equivalent`` (else None). Only the diffs of patch tasks take an engine.

    Raises:
        UserError: see :func:`trialbox.checking.chosen`.
        InfraError: a diff could not be applied for want of an engine.
    """
    tasks = [task for _, some in chosen(request) for task in some]
    with ExitStack() as stack, display.shown() as progress:
        bench = None
        rows = []
        for task in tasks:
            if task.reference.tree is None and bench is None:
                engine = stack.enter_context(connect(notify=progress.note))
                base = ensure(
                    engine.api,
                    "base",
                    cache=places.image_cache(),
                    images_dir=places.data_folder("images"),
                    report=progress.note,
                )
                bench = _Bench(engine, {"base": base}, places.state().owner)
            rows += _rows(task, _reference(task, bench))
    return rows


def _reference(task: Task, bench: _Bench | None) -> Tree:
    if task.reference.tree is not None:
        return task.reference.tree
    assert bench is not None
    return candidate_tree(task, task.reference, bench)


def _rows(task: Task, reference: Tree) -> list[dict[str, Any]]:
    recorded = {one.mutant: one.reason for one in task.spec.equivalent}
    mutants = mutants_of(task.before, reference)
    graded = {one.id for one in choose(mutants, task.spec.equivalent)}
    return [
        {
            "task": task.id,
            "id": one.id,
            "was": one.was,
            "now": one.now,
            "chosen": one.id in graded,
            "equivalent": recorded.get(one.id),
        }
        for one in mutants
    ]
