"""What checking a task stands on: gradings and whole attempts in real containers, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ParamSpec, TypeVar

from harness.ahead import Ahead
from harness.attempt import Job, Tools, run_attempt
from harness.digest import digest
from harness.evidence import AttemptRecord, GradeRecord
from harness.grade import GradingRoom, grade
from harness.hooks import Hook
from harness.oracles.conditions import USUAL, Conditions
from harness.records import Cell, ExecutionMode, TaskRef
from harness.solvers.manifest import Manifest, Solver
from harness.suites.admission.leaks import ImageShelf
from harness.suites.admission.workers import Workers
from harness.suites.task import Task
from harness.suites.tree import Tree

P = ParamSpec("P")
T = TypeVar("T")

PLAN = digest("admission")
"""Stands in an attempt's record where a run's plan would."""


@dataclass(frozen=True)
class Bench:
    """One engine, one store, and the images of all tasks that are checked. Safe to use from many threads.

    ``clock`` is the library of :mod:`harness.suites.admission.clock` as a file of this host.
    """

    tools: Tools
    mode: ExecutionMode
    clock: Path
    workers: Workers
    shelf: ImageShelf = field(default_factory=ImageShelf)

    def submit(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do some work beside other work."""
        return self.workers.submit(work, *args, **kwargs)

    def grade(
        self, task: Task, tree: Tree, conditions: Conditions = USUAL, *, cores: int | None = None, wall_s: int = 0
    ) -> GradeRecord:
        """Grade a tree as an attempt's would be.

        Args:
            task: the task.
            tree: the whole tree.
            conditions: the surroundings.
            cores: how many, if not those of the task's limits.
            wall_s: the grade limit in seconds, if not the task's.

        Raises:
            InfraError: the engine failed; nothing is said about the tree.
        """
        if wall_s:
            limits = task.limits.model_copy(update={"grade_wall_s": min(wall_s, task.limits.grade_wall_s)})
            task = replace(task, spec=task.spec.model_copy(update={"limits": limits}))
        tools = self.tools
        image = tools.images[task.image].handle
        with tools.cores.pinned(cores or task.limits.cpus) as cpuset:

            def make() -> GradingRoom:
                return GradingRoom(tools.engine, image, task, cpuset, tools.owner, conditions)

            with Ahead(make) as room:
                room.take()  # so that the time it takes to start a container is not counted
                return grade(room, tools.store, task, tree, conditions)

    def attempt(self, task: Task, ref: TaskRef, manifest: Manifest, hooks: Sequence[Hook] = ()) -> AttemptRecord:
        """Run a whole attempt of a scripted solver.

        Raises:
            InfraError: the run can't go on.
        """
        return run_attempt(
            Job(
                plan=PLAN,
                cell=Cell(solver=manifest.name, task=task.id, attempt=1),
                attempt_try=1,
                task=task,
                ref=ref,
                solver=Solver(manifest=manifest),
                mode=self.mode,
                concurrency=self.workers.count,
            ),
            replace(self.tools, hooks=lambda _: tuple(hooks)),
        )
