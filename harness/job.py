"""What an attempt is given: the tools that every attempt of a run shares, and the one try that it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.cores import Cores
from harness.energy import Session
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.hooks import Hook, no_hooks
from harness.ledger import Ledger
from harness.records import Cell, ExecutionMode, TaskRef
from harness.scan import Scanner
from harness.solvers.manifest import Solver
from harness.store import Store
from harness.suites.task import Task


@dataclass(frozen=True)
class Tools:
    """What every attempt of a run shares. Safe to use from many threads."""

    engine: Engine
    store: Store
    cache: Ledger
    images: Mapping[str, BuiltImage]
    energy: Session
    cores: Cores
    owner: str
    scanner: Scanner | None = None
    keep_workspaces: bool = False
    hooks: Callable[[Cell], Sequence[Hook]] = no_hooks

    @property
    def base(self) -> BuiltImage:
        """Our own base image, for keepers and the starting commit."""
        return self.images["base"]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One try of one planned cell, whoever does the work."""

    plan: str
    cell: Cell
    attempt_try: int
    task: Task
    ref: TaskRef
    mode: ExecutionMode
    concurrency: int


@dataclass(frozen=True, kw_only=True)
class Job(Planned):
    """One try whose work is done here, by a solver.

    ``reached_before`` says that a model has answered this solver before, so that its key and its model are good.
    ``rehearsed`` says that a script answers in the model's place. ``selecting`` says that one of several attempts is
    picked by what the visible tests say of its answer.
    """

    solver: Solver
    reached_before: bool = False
    rehearsed: bool = False
    selecting: bool = False
