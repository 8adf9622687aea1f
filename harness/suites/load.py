"""Folders into suites and tasks: read everything, check that it agrees, name the first thing that doesn't."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar, assert_never

from pydantic import TypeAdapter, ValidationError

from harness.errors import UserError
from harness.suites.checks import check_task
from harness.suites.groups import CasesGroup, CommandsGroup, ExitStatusGroup, OperationsGroup, PytestGroup
from harness.suites.limits import check_limits
from harness.suites.models import AnyTask, JouleTask, RepoTask, SuiteSpec, TaskSpec
from harness.suites.oracles import CasesOracle, CommandsOracle, HostHeldOracle, OperationsOracle
from harness.suites.parse import parse, parse_json, read_bytes, read_toml
from harness.suites.paths import Name
from harness.suites.task import Candidate, Suite, Task
from harness.suites.tree import Tree, is_by_product, read_tree

OracleT = TypeVar("OracleT", bound=HostHeldOracle)

SUITE_FILE, TASK_FILE = "suite.toml", "task.toml"

_TASK: TypeAdapter[TaskSpec] = TypeAdapter(AnyTask)
_SUITE: TypeAdapter[SuiteSpec] = TypeAdapter(SuiteSpec)
_NAME: TypeAdapter[str] = TypeAdapter(Name)

_REPO_PARTS = frozenset({TASK_FILE, "before", "reference", "hidden", "wrong"})


def find_suites(tasks_dir: Path) -> dict[str, Path]:
    """The suite folders under *tasks_dir* by folder name (``NAME``, or ``NAME@VERSION`` for one kept), sorted.

    Raises:
        UserError: there is no such folder, or no suite in it.
    """
    folders = {path.name: path for path in _subfolders(tasks_dir) if (path / SUITE_FILE).exists()}
    if not folders:
        raise UserError(str(tasks_dir), f"holds no suite: no folder with a {SUITE_FILE}", "point at the tasks folder")
    return folders


def load_suite(folder: Path, *, keep_going: bool = False) -> Suite:
    """Load a suite and every task that its ``suite.toml`` lists.

    With *keep_going* the tasks that can be loaded are, and what is wrong with the others is in ``errors``.

    Raises:
        UserError: ``suite.toml`` is wrong, or (without *keep_going*) anything else is.
    """
    where = folder / SUITE_FILE
    spec = parse(_SUITE, read_toml(where), str(where))
    if folder.resolve().name not in {spec.name, f"{spec.name}@{spec.version}"}:
        raise UserError(f"{where}: name", f"{spec.name!r} is not the folder's name", "rename one of them")
    tasks: list[Task] = []
    errors = list(_unlisted(folder, spec))
    for task_id in spec.tasks:
        try:
            tasks.append(load_task(folder / task_id))
        except UserError as error:
            errors.append(error)
        if errors and not keep_going:
            raise errors[0]
    return Suite(spec, folder, tuple(tasks), tuple(errors))


def load_task(folder: Path) -> Task:
    """Load one task of any format.

    Raises:
        UserError: one line for the first thing that is wrong with it.
    """
    try:
        _NAME.validate_python(folder.name)
    except ValidationError:
        raise UserError(
            str(folder), "a task's folder name is its id: lowercase words and hyphens", "rename it"
        ) from None
    if not folder.is_dir():
        raise UserError(str(folder), "there is no such task folder", "create it or take it off the suite's tasks")
    spec = _task_spec(folder / TASK_FILE)
    check_limits(spec.limits, str(folder / TASK_FILE))
    before = read_tree(folder / "before")
    task = Task(
        id=folder.name,
        folder=folder,
        spec=spec,
        prompt=_prompt(folder, spec),
        before=before,
        hidden=_hidden(folder, spec),
        reference=_candidate(folder / "reference", before, "", spec.reference.delete),
        wrong=tuple(_candidate(folder / "wrong" / one.name, before, one.why, one.delete) for one in spec.wrong),
        oracles=dict(_oracles(folder, spec)),
    )
    check_task(task)
    return task


def _task_spec(path: Path) -> TaskSpec:
    """A joule-bench file has neither ``schema`` nor ``format``: that is how it is told from ours."""
    raw = read_toml(path)
    if "schema" not in raw and "format" not in raw:
        raw["format"] = "joule"
    return parse(_TASK, raw, str(path))


def _prompt(folder: Path, spec: TaskSpec) -> str:
    match spec:
        case JouleTask():
            return spec.prompt
        case RepoTask():
            return _text(folder / spec.prompt)
        case _:
            assert_never(spec)


def _text(path: Path) -> str:
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UserError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    if not text.strip():
        raise UserError(str(path), "is empty", "say there what the solver is to do")
    return text


def _hidden(folder: Path, spec: TaskSpec) -> Tree:
    """``hidden/``, and a refusal of whatever else lies in the folder and would be in no hash."""
    match spec:
        case JouleTask():
            if (folder / "hidden").exists():
                raise UserError(
                    str(folder / "hidden"), "a joule task is graded by test_cmd alone", "remove it, or use repo"
                )
            return Tree()
        case RepoTask():
            extra = sorted(
                item.name
                for item in folder.iterdir()
                if item.name not in {*_REPO_PARTS, spec.prompt.split("/")[0]} and not is_by_product(item.name)
            )
            if extra:
                raise UserError(
                    str(folder / extra[0]), "is no part of a task", "remove it; docs/suites.md lists the parts"
                )
            return read_tree(folder / "hidden")
        case _:
            assert_never(spec)


def _candidate(place: Path, before: Tree, why: str, delete: tuple[str, ...]) -> Candidate:
    """*before* less *delete* with the folder *place* over it; the folder may be absent if something is deleted."""
    overlay = Tree() if delete and not place.exists() else read_tree(place)
    try:
        tree = before.without(delete).overlay(overlay)
    except ValueError as error:
        raise UserError(str(place), f"can't be laid over before/: {error}", "correct it or its delete list") from error
    if tree == before:
        raise UserError(str(place), "leaves before/ as it is", "put the changed files there")
    return Candidate(place.name, why, overlay, delete, tree)


def _oracles(folder: Path, spec: TaskSpec) -> Iterator[tuple[str, HostHeldOracle]]:
    for group in spec.groups:
        match group:
            case CasesGroup():
                yield group.name, _oracle(CasesOracle, folder / group.file)
            case OperationsGroup():
                yield group.name, _oracle(OperationsOracle, folder / group.file)
            case CommandsGroup():
                yield group.name, _oracle(CommandsOracle, folder / group.file)
            case PytestGroup() | ExitStatusGroup():
                pass
            case _:
                assert_never(group)


def _oracle(kind: type[OracleT], path: Path) -> OracleT:
    return parse_json(kind, read_bytes(path), str(path))


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        raise UserError(str(folder), f"can't be read: {error.strerror}", "check the path") from error


def _unlisted(folder: Path, spec: SuiteSpec) -> Iterator[UserError]:
    for path in _subfolders(folder):
        if (path / TASK_FILE).exists() and path.name not in spec.tasks:
            yield UserError(
                f"{folder / SUITE_FILE}: tasks", f"{path.name!r} is not listed", "list it or remove its folder"
            )
