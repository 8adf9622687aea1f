"""What grading a card's changes again takes: the suite whose hashes are the card's, and which images."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.digest import digest
from harness.errors import TrialboxError, UserError
from harness.ledger import Ledger
from harness.records import ImageRef, Plan
from harness.releases import Releases
from harness.state import State
from harness.suites.hashing import GRADER_VERSION, ScoreBasis, score_hash, score_inputs
from harness.suites.kept import version_folder
from harness.suites.load import load_suite
from harness.suites.task import Suite, Task
from harness.untrusted import clean_text
from scoring.card import Card
from trialbox import places
from trialbox.opening import OWN_IMAGES, platform_of

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_LEEWAY_US = 300 * 1_000_000
"""Clocks of two machines may differ by so much."""


@dataclass(frozen=True)
class Candidate:
    """A folder that may hold the card's suite. ``origin`` is one word for where it is from."""

    origin: str
    folder: Path
    releases: Releases


@dataclass(frozen=True)
class Found:
    """The suite of a card."""

    suite: Suite
    origin: str


def check_card(card: Card) -> None:
    """What a card from anywhere must hold before anything is done with it.

    Raises:
        UserError: a name in its plan is none, or it was made after this machine's clock says that it is now.
    """
    plan = card.core.plan
    names = [plan.suite.name, *(one.task for one in plan.tasks), *(one.name for one in plan.images)]
    wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
    if wrong is not None:
        raise UserError(
            f"card {card.id[:19]}: core.plan", f"{clean_text(wrong, 60)!r} is no name", "get the card again"
        )
    ahead = card.stamp.run.created_us - time.time_ns() // 1000
    if ahead > _LEEWAY_US:
        problem = f"was made {ahead // 1_000_000} s after what this machine's clock says"
        raise UserError(f"card {card.id[:19]}: stamp.run.created_us", problem, "set this machine's clock right")


def suite_of(card: Card, candidates: Iterable[Candidate]) -> Found:
    """The first candidate whose tasks have the score hashes of the card's plan.

    Raises:
        UserError: none has; the message names the first task that differs, or why none could be read.
    """
    plan = card.core.plan
    basis = ScoreBasis(
        image_locks={image.name: image.lock for image in plan.images},
        platform=platform_of(card.stamp.host.architecture),
    )
    problems: list[TrialboxError] = []
    for one in candidates:
        try:
            suite = load_suite(one.folder, keep_going=True, releases=one.releases)
            _compare(plan, suite, basis, one.origin)
        except TrialboxError as error:
            problems.append(error)
            continue
        return Found(suite, one.origin)
    if problems:
        raise next((one for one in problems if one.where.startswith("suite ")), problems[0])
    raise UserError(f"suite {plan.suite.name}", "is not here", "name its folder with --suite, or use a bundle")


def _compare(plan: Plan, suite: Suite, basis: ScoreBasis, origin: str) -> None:
    where = f"suite {plan.suite.name} ({origin})"
    remedy = "name the card's own suite with --suite, or use a bundle"
    known = {task.id: task for task in suite.tasks}
    for ref in plan.tasks:
        task = known.get(ref.task)
        if task is None:
            broken = next((error for error in suite.errors if f"/{ref.task}/" in error.where), None)
            raise broken or UserError(where, f"version {suite.version} has no task {ref.task}", remedy)
        if score_hash(task, basis) != ref.score_hash:
            raise UserError(f"{where}: task {ref.task}", _how_it_differs(task, basis, ref.score_hash), remedy)


def _how_it_differs(task: Task, basis: ScoreBasis, wanted: str) -> str:
    inputs = score_inputs(task, basis)
    for version in range(1, GRADER_VERSION + 20):
        if digest({**inputs, "grader": version}) == wanted:
            return f"is graded by grader {GRADER_VERSION} here, by grader {version} on the card"
    return f"has the score hash {score_hash(task, basis)[:19]}, the card's is {wanted[:19]}"


def candidates(card: Card, given: str | None, state: State, *, fetch: bool) -> Iterator[Candidate]:
    """Where a card's suite may be on this machine. With *fetch*, releases that are missing are downloaded.

    Raises:
        UserError: *given* is no folder.
    """
    releases = places.releases() if fetch else Releases()
    if given is not None:
        folder = Path(given)
        if not folder.is_dir():
            raise UserError("--suite", f"{given} is no folder", "give the folder that has the suite's suite.toml")
        yield Candidate("given", folder.resolve(), releases)
        return
    suite = card.core.plan.suite
    for name in (suite.name, f"{suite.name}@{suite.version}"):
        folder = places.data_folder("tasks") / name
        if folder.is_dir():
            yield Candidate("installed", folder, releases)
    with suppress(TrialboxError):  # it never was a version, or is not kept
        installed = places.data_folder("tasks") / suite.name
        kept = version_folder(installed, suite.version, places.version_cache(), releases)
        if kept != installed:
            yield Candidate("kept", kept, releases)
    ran = _folder_of_run(card, state)
    if ran is not None:
        yield Candidate("run", ran, releases)


def _folder_of_run(card: Card, state: State) -> Path | None:
    """The folder that the card's run was given, if this state folder knows the run."""
    if not state.ledger.exists() or not state.ledger.stat().st_size:
        return None
    with suppress(TrialboxError), Ledger(state.ledger, reading=not os.access(state.ledger, os.W_OK)) as ledger:
        for run in ledger.runs():
            name = run.options.get("suite")
            if run.id == card.stamp.run.id and isinstance(name, str) and ("/" in name or name.startswith(".")):
                folder = Path(name)
                return folder.resolve() if folder.is_dir() else None
    return None


def needed_images(plan: Plan, tasks: Iterable[Task]) -> tuple[ImageRef, ...]:
    """The images of the plan that grading its tasks takes, by name.

    Raises:
        UserError: the plan lacks one.
    """
    names = sorted({*OWN_IMAGES, *(name for task in tasks for name in grading_images(task))})
    refs = {ref.name: ref for ref in plan.images}
    for name in names:
        if name not in refs:
            raise UserError(f"image {name}", "is not among the card's images", "get the card again")
    return tuple(refs[name] for name in names)


def grading_images(task: Task) -> tuple[str, ...]:
    """The images that a task is graded in: all of its own but one with a program for solvers to take apart."""
    return tuple(name for name in task.images if task.program is None or name != task.solver_image)
