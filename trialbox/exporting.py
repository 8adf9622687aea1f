"""Suites and runs on their way out, in others' formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from harness.engine.images import list_images
from harness.engine.images.archive import tag
from harness.errors import UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.records import Cell, from_json
from harness.store import LocalStore
from harness.suites.foreign.harbor_export import harbor_folder, not_carried, refusal
from harness.suites.foreign.leaving import Left, to_trajectory
from harness.suites.foreign.leaving import to_predictions as predictions_of
from harness.suites.foreign.predictions import to_json_lines
from harness.suites.foreign.write import new_folder, write_tree
from harness.suites.formats.foreign import ForeignTask
from harness.suites.load import find_suites, load_suite
from harness.suites.task import Suite, Task
from scoring.card import Card
from trialbox import cards, places
from trialbox.request import suite_folder


@dataclass(frozen=True)
class Exported:
    """What was written, and by name what the format could not hold of each."""

    files: tuple[str, ...]
    not_carried: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def to_harbor(name: str, output: Path, only: tuple[str, ...]) -> Exported:
    """A suite's tasks as Harbor task folders.

    Raises:
        UserError: no such suite or task, one that can't be exported, or *output* exists.
    """
    suite = load_suite(suite_folder(name, places.data_folder("tasks")))
    tasks = [suite.task(one) for one in dict.fromkeys(only)] or list(suite.tasks)
    for task in tasks:
        if why := refusal(task):
            raise UserError(f"task {task.id}", f"can't be exported: {why}", "leave it out with --task")
    tags = _tags(suite)
    with new_folder(output) as folder:
        for task in tasks:
            write_tree(harbor_folder(suite, task, tags.get(task.image, f"trialbox/{task.image}")), folder / task.id)
    return Exported(tuple(task.id for task in tasks), {task.id: tuple(map(str, not_carried(task))) for task in tasks})


def to_predictions(name: str, output: Path, only: tuple[str, ...]) -> Exported:
    """A run's changes as ``predictions.jsonl``.

    Raises:
        UserError: no such run or card, or *output* exists.
        VerifyError: its evidence is not here, or was changed.
    """
    store = LocalStore(places.state().blobs)
    picked = _picked(_card(name))
    left = sorted(_left(name, store, only), key=lambda one: one.record.cell not in picked)
    made, lost = predictions_of(left, store)
    with new_folder(output) as folder:
        (folder / "predictions.jsonl").write_bytes(to_json_lines(made))
    return Exported(("predictions.jsonl",), {"predictions.jsonl": lost} if lost else {})


def to_trajectories(name: str, output: Path, only: tuple[str, ...]) -> Exported:
    """Each attempt of a run as an ATIF file.

    Raises:
        UserError: no such run or card, or *output* exists.
        VerifyError: its evidence is not here, or was changed.
    """
    store = LocalStore(places.state().blobs)
    card, prompts = _card(name), _Prompts()
    files: list[str] = []
    lost: dict[str, tuple[str, ...]] = {}
    with new_folder(output) as folder:
        for one in _left(name, store, only):
            key = one.record.cell.key
            if one.record.solve is None:
                lost[key] = ("no solver ran, so there is nothing to tell",)
                continue
            trajectory, missing = to_trajectory(one, prompts.of(card, one.record.cell.task), store)
            file = f"{key.replace('/', '.')}.json"
            value = trajectory.model_dump(mode="json", exclude_none=True)
            (folder / file).write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
            files.append(file)
            if missing:
                lost[key] = (missing,)
    return Exported(tuple(files), lost)


def _card(name: str) -> Card:
    return cards.load(cards.of_run(name) or name)


def _picked(card: Card) -> set[Cell]:
    """The attempts that a selector picked of each first group; none where nothing was selected."""
    picks = card.core.selection.picks if card.core.selection else ()
    first = [one for one in picks if one.group == 1 and one.picked]
    return {Cell(solver=one.solver, task=one.task, attempt=one.picked or 1) for one in first}


def _left(name: str, store: LocalStore, only: tuple[str, ...]) -> list[Left]:
    card = _card(name)
    solvers = {solver.name: solver for solver in card.core.plan.solvers}
    ids = _instances(card)
    last = {one.cell: one for one in sorted(card.stamp.evidence, key=lambda one: one.attempt_try)}
    unknown = sorted(set(only) - {cell.task for cell in card.core.plan.cells()})
    if unknown:
        raise UserError("--task", f"{unknown[0]!r} is not on this card", "`trialbox report` shows its tasks")
    left = []
    for cell in card.core.plan.cells():
        blob = last[cell].record
        if blob is None:
            raise VerifyError(f"record of {cell.key}", "is missing", "restore it from a copy")
        if not only or cell.task in only:
            record = from_json(AttemptRecord, store.get(blob.digest), f"record of {cell.key}")
            left.append(Left(record, solvers[cell.solver], ids.get(cell.task, cell.task)))
    return left


def _suite(card: Card) -> Suite | None:
    """The card's suite: where the ledger says it was, else one of those shipped; None if it is not here."""
    named, shipped = card.core.plan.suite, places.data_folder("tasks")
    folders = list(find_suites(shipped).values())
    state = places.state()
    if state.ledger.exists():
        with Ledger(state.ledger) as ledger:
            suites = [str(run.options["suite"]) for run in ledger.runs() if run.id == card.stamp.run.id]
        with suppress(UserError):
            folders = [suite_folder(one, shipped) for one in suites] + folders
    for folder in folders:
        with suppress(UserError):
            suite = load_suite(folder, keep_going=True)
            if (suite.name, suite.version) == (named.name, named.version):
                return suite
    return None


def _instances(card: Card) -> dict[str, str]:
    suite = _suite(card)
    return {task.id: _origin(task) for task in suite.tasks} if suite else {}


def _origin(task: Task) -> str:
    return task.spec.origin.id if isinstance(task.spec, ForeignTask) else task.id


class _Prompts:
    """The prompts of a card's suite, loaded once."""

    def __init__(self) -> None:
        self._suite: Suite | None = None
        self._looked = False

    def of(self, card: Card, task: str) -> str:
        """The prompt of a task; what it stands for where the suite is not here."""
        if not self._looked:
            self._suite, self._looked = _suite(card), True
        found = next((one.prompt for one in self._suite.tasks if one.id == task), None) if self._suite else None
        return found if found is not None else f"(the prompt of task {task}, whose suite is not here)"


def _tags(suite: Suite) -> dict[str, str]:
    listed = list_images(None, images_dir=places.data_folder("images"), programs=suite.programs)
    return {one.name: tag(one.name, one.id) for one in listed if one.id is not None}
