"""Folders into suites and tasks: read everything, check that it agrees, name the first thing that doesn't."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from harness.errors import UserError
from harness.releases import Releases
from harness.suites.candidates import laid_over, read_candidates
from harness.suites.checks import check_task
from harness.suites.formats.authored import FOLLOW_UP, FollowUpSpec, ProjectTask
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.joule import JouleTask
from harness.suites.formats.parity import ParityTask
from harness.suites.formats.repo import RepoTask
from harness.suites.groups import CasesGroup, CommandsGroup, Group, GroupKind, OperationsGroup
from harness.suites.limits import check_limits
from harness.suites.models import AnyTask, SuiteSpec, TaskSpec
from harness.suites.oracles import CasesOracle, CommandsOracle, HostHeldOracle, OperationsOracle
from harness.suites.parity import read_binary
from harness.suites.parse import parse, parse_json, read_bytes, read_toml
from harness.suites.paths import Name
from harness.suites.task import FollowUp, Suite, Task
from harness.suites.tree import Tree, is_by_product, read_tree

OracleT = TypeVar("OracleT", bound=HostHeldOracle)

SUITE_FILE, TASK_FILE = "suite.toml", "task.toml"

_TASK: TypeAdapter[TaskSpec] = TypeAdapter(AnyTask)
_SUITE: TypeAdapter[SuiteSpec] = TypeAdapter(SuiteSpec)
_NAME: TypeAdapter[str] = TypeAdapter(Name)


def find_suites(tasks_dir: Path) -> dict[str, Path]:
    """The suite folders under *tasks_dir* by folder name (``NAME``, or ``NAME@VERSION`` for one kept), sorted.

    Raises:
        UserError: there is no such folder, or no suite in it.
    """
    folders = {path.name: path for path in _subfolders(tasks_dir) if (path / SUITE_FILE).exists()}
    if not folders:
        raise UserError(str(tasks_dir), f"holds no suite: no folder with a {SUITE_FILE}", "point at the tasks folder")
    return folders


def load_suite(folder: Path, *, keep_going: bool = False, releases: Releases | None = None) -> Suite:
    """Load a suite and every task that its ``suite.toml`` lists.

    With *keep_going* the tasks that can be loaded are, and what is wrong with the others is in ``errors``.

    Args:
        releases: where trees of public releases come from; by default the user's cache, and nothing is fetched.

    Raises:
        UserError: ``suite.toml`` is wrong, or (without *keep_going*) anything else is.
        InfraError: a release can't be fetched.
    """
    spec = read_suite_file(folder)
    tasks: list[Task] = []
    errors = list(_unlisted(folder, spec))
    for task_id in spec.tasks:
        try:
            tasks.append(load_task(folder / task_id, releases))
        except UserError as error:
            errors.append(error)
        if errors and not keep_going:
            raise errors[0]
    return Suite(spec, folder, tuple(tasks), tuple(errors))


def read_suite_file(folder: Path) -> SuiteSpec:
    """A suite's own file, without its tasks.

    Raises:
        UserError: it is wrong, or another suite's.
    """
    where = folder / SUITE_FILE
    spec = parse(_SUITE, read_toml(where), str(where))
    if folder.resolve().name not in {spec.name, f"{spec.name}@{spec.version}"}:
        raise UserError(f"{where}: name", f"{spec.name!r} is not the folder's name", "rename one of them")
    return spec


def fetch_releases(tasks_dir: Path, releases: Releases) -> None:
    """Have in the cache what the tasks of every suite under *tasks_dir* take from public releases.

    Raises:
        UserError: a task's file is wrong, or names another release than there is.
        InfraError: a release can't be fetched.
    """
    for suite in find_suites(tasks_dir).values():
        for task_id in read_suite_file(suite).tasks:
            where = suite / task_id / TASK_FILE
            spec = _task_spec(where)
            if isinstance(spec, RepoTask) and spec.source is not None and spec.fix is not None:
                before = releases.before(spec.source, str(where))
                releases.reference(spec.source, spec.fix, before, str(where))


def load_task(folder: Path, releases: Releases | None = None) -> Task:
    """Load one task of any format; *releases* is as for a suite.

    Raises:
        UserError: one line for the first thing that is wrong with it.
        InfraError: a release can't be fetched.
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
    prompt = _prompt(folder, spec)
    releases = releases or Releases()
    hidden = _hidden(folder, spec)
    before = _before(folder, spec, releases)
    reference, wrong = read_candidates(folder, spec, before, releases)
    task = Task(
        id=folder.name,
        folder=folder,
        spec=spec,
        prompt=prompt,
        before=before,
        hidden=hidden,
        reference=reference,
        wrong=wrong,
        oracles=dict(_oracles(folder, spec.groups)),
    )
    if isinstance(spec, ParityTask):
        binary, program = read_binary(folder, spec)
        task = replace(task, binary=binary, program=program)
    if isinstance(spec, ProjectTask) and spec.follow_up is not None:
        task = replace(task, follow_up=_follow_up(task, spec.follow_up))
    check_task(task)
    return task


def _task_spec(path: Path) -> TaskSpec:
    """A joule-bench file has neither ``schema`` nor ``format``: that is how it is told from ours."""
    raw = read_toml(path)
    if "schema" not in raw and "format" not in raw:
        raw["format"] = "joule"
    return parse(_TASK, raw, str(path))


def _before(folder: Path, spec: TaskSpec, releases: Releases) -> Tree:
    """``before/`` or a release; a function task or an imported one may have neither and starts from nothing."""
    if isinstance(spec, RepoTask) and spec.source is not None:
        return releases.before(spec.source, str(folder / TASK_FILE))
    place = folder / "before"
    return Tree() if isinstance(spec, FunctionTask | ForeignTask) and not place.exists() else read_tree(place)


def _prompt(folder: Path, spec: TaskSpec) -> str:
    return spec.prompt if isinstance(spec, JouleTask) else _text(folder / spec.prompt)


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
    if isinstance(spec, JouleTask):
        if (folder / "hidden").exists():
            raise UserError(
                str(folder / "hidden"), "a joule task is graded by test_cmd alone", "remove it, or use repo"
            )
        return Tree()
    released = {"before", "reference"} if isinstance(spec, RepoTask) and spec.source is not None else set()
    if isinstance(spec, ProjectTask) and spec.follow_up is None and (folder / FOLLOW_UP).exists():
        raise UserError(str(folder / FOLLOW_UP), "is there, though task.toml has no [follow_up]", "add or remove one")
    _refuse_strangers(folder, {*spec.parts, spec.prompt.split("/")[0]} - released)
    place = folder / "hidden"
    return Tree() if isinstance(spec, ForeignTask) and not place.exists() else read_tree(place)


def _refuse_strangers(folder: Path, parts: set[str]) -> None:
    extra = sorted(one.name for one in folder.iterdir() if one.name not in parts and not is_by_product(one.name))
    if extra:
        raise UserError(str(folder / extra[0]), "is no part of a task", "remove it; docs/suites.md lists the parts")


def _oracles(folder: Path, groups: Iterable[Group]) -> Iterator[tuple[str, HostHeldOracle]]:
    """The oracle files of the groups whose expectations the host holds; the other groups have none."""
    for group in groups:
        match group:
            case CasesGroup():
                yield group.name, _oracle(CasesOracle, folder / group.file)
            case OperationsGroup():
                yield group.name, _oracle(OperationsOracle, folder / group.file)
            case CommandsGroup():
                yield group.name, _oracle(CommandsOracle, folder / group.file)
            case _:
                pass


def _oracle(kind: type[OracleT], path: Path) -> OracleT:
    return parse_json(kind, read_bytes(path), str(path))


def _follow_up(task: Task, told: FollowUpSpec) -> FollowUp:
    """The later ticket: the same project as the reference left it, its own groups, and those that go on holding."""
    folder = task.folder / FOLLOW_UP
    if task.reference.tree is None:
        raise UserError(str(folder), "the reference has no tree to go on from", "leave the follow-up out")
    _refuse_strangers(folder, {"hidden", "reference", told.prompt.split("/")[1]})
    prompt, hidden = _text(task.folder / told.prompt), read_tree(folder / "hidden")
    kept = [group for group in task.groups if group.name not in told.changes]
    still = {path.removeprefix("hidden/") for group in kept for path in group.hidden_files}
    clash = sorted(still & hidden.keys())
    if clash:
        raise UserError(str(folder / "hidden" / clash[0]), "hidden/ of the task has a file of that name", "rename it")
    changed = {"wrong": (), "checklist": (), "equivalent": (), "follow_up": None}
    groups = (*told.groups, *(group.model_copy(update={"kind": GroupKind.REGRESSION}) for group in kept))
    own = {group.name: task.oracles[group.name] for group in kept if group.name in task.oracles}
    later = replace(
        task,
        folder=folder,
        spec=task.spec.model_copy(update={"groups": groups, **changed}),
        prompt=prompt,
        before=task.reference.tree,
        hidden=Tree([*hidden.values(), *(task.hidden[path] for path in sorted(still & task.hidden.keys()))]),
        reference=laid_over(folder / "reference", task.reference.tree, "", None, told.reference.delete),
        wrong=(),
        oracles={**own, **dict(_oracles(folder, told.groups))},
    )
    return FollowUp(prompt, hidden, told.groups, told.changes, later)


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
