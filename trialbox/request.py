"""What a user asked a run to be: options that a resumed run reads back from the ledger, and what they select."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.energy import MeterChoice
from harness.errors import UserError
from harness.records import BestOf, SelectorKind
from harness.solvers.choose import agent_names, check, choose
from harness.solvers.manifest import Solver
from harness.suites.kept import version_folder
from harness.suites.load import find_suites, load_suite
from harness.suites.task import Suite, Task
from trialbox.asking import FLEET, Terms
from trialbox.places import data_folder, releases, version_cache

DEFAULT_SELECTOR = SelectorKind.VISIBLE_TESTS
"""Who picks among rollouts where nobody is named."""
_PROGRAMS = ("command:", "service:")
"""Texts that are one solver to their end, commas included."""
_MOST = 10_000
"""Attempts at one task by one solver, and attempts at once: more than anybody needs, and still what can be held."""
_AT_MOST = 4
"""Scripted attempts at once where nothing is asked for: each has the memory of its task's limits."""


@dataclass(frozen=True)
class Request:
    """The options of ``run`` that decide what is run and how."""

    suite: str
    solvers: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    attempts: int = 1
    rollouts: int = 1
    """Attempts of which one is picked; with each of ``attempts`` there are so many."""
    selector: str | None = None
    """Who picks it; None where there is nothing to pick from, or the default picks."""
    concurrency: int | None = None
    """Attempts at once; None until the solvers are known (:attr:`Selection.concurrency`)."""
    energy: str = MeterChoice.AUTO.value
    certified: bool = False
    """Measured alone on the host, one attempt at a time, by counters over a full idle calibration."""
    active_watts: str | None = None
    keep_workspaces: bool = False
    real: bool = False
    provider: str | None = None
    script: str | None = None
    """A script file by which every model answers in a dry run, in place of the task's reference."""
    budget_requests: int | None = None
    budget_tokens: int | None = None
    budget_usd: str | None = None

    def to_options(self) -> dict[str, Any]:
        """For the ledger."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Request:
        """From the ledger."""
        made = cls(**options)
        return replace(made, solvers=tuple(made.solvers), tasks=tuple(made.tasks))

    @property
    def terms(self) -> Terms:
        """What it says of models."""
        return Terms(self.real, self.provider, self.budget_requests, self.budget_tokens, self.budget_usd)

    @property
    def each(self) -> int:
        """All attempts of a solver at a task."""
        return self.attempts * self.rollouts

    @property
    def best_of(self) -> BestOf | None:
        """How one of several attempts is picked; None where there is nothing to pick from.

        Raises:
            UserError: there is no such selector, or nothing for it to pick from.
        """
        known = {kind.value: kind for kind in SelectorKind}
        if self.selector is not None and self.selector not in known:
            raise UserError("--selector", f"{self.selector!r} is no selector", f"known: {', '.join(known)}")
        if self.rollouts > 1:
            return BestOf(rollouts=self.rollouts, selector=known[self.selector or DEFAULT_SELECTOR.value])
        if self.selector is not None:
            raise UserError("--selector", "picks one of several attempts, and there is one", "add --rollouts N")
        return None

    @property
    def meter(self) -> MeterChoice:
        """The energy meter.

        Raises:
            UserError: there is none of that name.
        """
        try:
            choice = MeterChoice(self.energy)
        except ValueError as error:
            known = ", ".join(choice.value for choice in MeterChoice)
            raise UserError("--energy", f"{self.energy!r} is no meter", f"known: {known}") from error
        if self.certified and choice in {MeterChoice.ESTIMATOR, MeterChoice.OFF}:
            raise UserError("--certified", f"the meter {choice.value} measures nothing", "leave --energy out")
        return MeterChoice.MEASURED if self.certified and choice is MeterChoice.AUTO else choice


@dataclass(frozen=True)
class Selection:
    """What a request selects: a whole suite, the tasks of it that run, and the solvers."""

    suite: Suite
    tasks: tuple[Task, ...]
    solvers: tuple[Solver, ...]
    concurrency: int
    fleet: frozenset[str] = frozenset()
    """Those of the solvers that nobody named."""

    @property
    def partial(self) -> bool:
        """Whether tasks of the suite are left out."""
        return len(self.tasks) < len(self.suite.tasks)


def select(request: Request, tasks_dir: Path) -> Selection:
    """Load and check all that a request names.

    Raises:
        UserError: an unknown or malformed suite, task or solver, or a number out of range.
    """
    whole = {"--attempts": request.attempts, "--rollouts": request.rollouts, "--concurrency": request.concurrency}
    for name, value in whole.items():
        if value is not None and value < 1:
            raise UserError(name, f"{value} is too small", "give 1 or more")
        if value is not None and value > _MOST:
            raise UserError(name, f"{value} is too large", f"give at most {_MOST}")
    if request.limit is not None and request.limit < 1:
        raise UserError("--limit", f"{request.limit} is too small", "give 1 or more, or leave it out")
    if request.each > _MOST:
        problem = f"with {request.attempts} attempts makes {request.each} of each solver at each task"
        raise UserError("--rollouts", problem, f"together they may make {_MOST}")
    if request.certified and request.concurrency not in {None, 1}:
        raise UserError("--certified", "runs one attempt at a time", "leave --concurrency out")
    _, _ = request.meter, request.best_of
    suite = load_suite(suite_folder(request.suite, tasks_dir), releases=releases())
    tasks = tuple(suite.task(name) for name in dict.fromkeys(request.tasks)) or suite.tasks
    solvers, fleet = _solvers(request, data_folder("images") / "agents")
    selection = Selection(
        suite,
        tasks[: request.limit],
        solvers,
        request.concurrency or (1 if request.certified else _at_once(solvers)),
        fleet,
    )
    check(selection.solvers, selection.tasks)
    return selection


def _solvers(request: Request, agents: Path) -> tuple[tuple[Solver, ...], frozenset[str]]:
    """The solvers, ``fleet`` spelled out as all agents that are not named beside it, and which those are."""
    named, brought = [], []
    for text in request.solvers:
        words = [text] if text.startswith(_PROGRAMS) else [word.strip() for word in text.split(",")]
        brought += [word for word in words if word == FLEET]
        if rest := ",".join(word for word in words if word != FLEET):
            named.append(rest)
    chosen = choose(named, agents) if named or not brought else ()
    fleet = [name for name in agent_names(agents) if brought and name not in {one.name for one in chosen}]
    chosen += choose(fleet, agents) if fleet else ()
    if request.provider is not None and request.real:
        asked = {"provider": request.provider}
        chosen = tuple(
            one.model_copy(update={"manifest": one.manifest.model_copy(update=asked)})
            if one.manifest.driver.asks_model
            else one
            for one in chosen
        )
    return chosen, frozenset(fleet)


def _at_once(solvers: tuple[Solver, ...]) -> int:
    """One, so that energy belongs to its attempt; for scripted solvers, whose energy never counts, all cores."""
    if not all(solver.manifest.driver.scripted for solver in solvers):
        return 1
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _AT_MOST)


def suite_folder(name: str, tasks_dir: Path) -> Path:
    """The folder of a suite: one of the shipped ones by name, or any by its path; with ``@VERSION`` of that version.

    Raises:
        UserError: there is none, or the version is not kept.
        InfraError: what the version takes from public releases can't be fetched.
    """
    base, _, version = name.rpartition("@")
    if "/" in name or name.startswith("."):
        folder = Path(name)
        if not folder.is_dir() and base and "/" not in version and Path(base).is_dir():
            return version_folder(Path(base).resolve(), version, version_cache(), releases())
        if not folder.is_dir():
            raise UserError(f"suite {name}", "there is no such folder", "give a suite's name or the path of its folder")
        return folder.resolve()
    known = find_suites(tasks_dir)
    if name not in known and base in known:
        return version_folder(known[base], version, version_cache(), releases())
    if name not in known:
        here = f"the folder of that name here is ./{name}" if Path(name).is_dir() else "or give a folder's path"
        raise UserError(f"suite {name}", "there is no such suite", f"known: {', '.join(known)}; {here}")
    return known[name]
