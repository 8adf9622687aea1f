"""What a user asked a run to be: options that a resumed run reads back from the ledger, and what they select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.energy import MeterChoice
from harness.errors import UserError
from harness.solvers.choose import check, choose
from harness.solvers.manifest import Solver
from harness.suites.load import find_suites, load_suite
from harness.suites.task import Suite, Task


@dataclass(frozen=True)
class Request:
    """The options of ``run`` that decide what is run and how."""

    suite: str
    solvers: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    attempts: int = 1
    concurrency: int = 1
    energy: str = MeterChoice.AUTO.value
    keep_workspaces: bool = False

    def to_options(self) -> dict[str, Any]:
        """For the ledger."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Request:
        """From the ledger."""
        made = cls(**options)
        return replace(made, solvers=tuple(made.solvers), tasks=tuple(made.tasks))

    @property
    def meter(self) -> MeterChoice:
        """The energy meter.

        Raises:
            UserError: there is none of that name.
        """
        try:
            return MeterChoice(self.energy)
        except ValueError as error:
            known = ", ".join(choice.value for choice in MeterChoice)
            raise UserError("--energy", f"{self.energy!r} is no meter", f"known: {known}") from error


@dataclass(frozen=True)
class Selection:
    """What a request selects: a whole suite, the tasks of it that run, and the solvers."""

    suite: Suite
    tasks: tuple[Task, ...]
    solvers: tuple[Solver, ...]

    @property
    def partial(self) -> bool:
        """Whether tasks of the suite are left out."""
        return len(self.tasks) < len(self.suite.tasks)


def select(request: Request, tasks_dir: Path) -> Selection:
    """Load and check all that a request names.

    Raises:
        UserError: an unknown or malformed suite, task or solver, or a number out of range.
    """
    for name, value in (("--attempts", request.attempts), ("--concurrency", request.concurrency)):
        if value < 1:
            raise UserError(name, f"{value} is too small", "give 1 or more")
    if request.limit is not None and request.limit < 1:
        raise UserError("--limit", f"{request.limit} is too small", "give 1 or more, or leave it out")
    _ = request.meter
    suite = load_suite(suite_folder(request.suite, tasks_dir))
    tasks = tuple(suite.task(name) for name in dict.fromkeys(request.tasks)) or suite.tasks
    selection = Selection(suite, tasks[: request.limit], choose(request.solvers))
    check(selection.solvers, selection.tasks)
    return selection


def suite_folder(name: str, tasks_dir: Path) -> Path:
    """The folder of a suite: one of the shipped ones by name, or any by its path.

    Raises:
        UserError: there is none.
    """
    if "/" in name or name.startswith("."):
        folder = Path(name)
        if not folder.is_dir():
            raise UserError(f"suite {name}", "there is no such folder", "give a suite's name or the path of its folder")
        return folder.resolve()
    known = find_suites(tasks_dir)
    if name not in known:
        raise UserError(
            f"suite {name}", "there is no such suite", f"known: {', '.join(known)}; or give a folder's path"
        )
    return known[name]
