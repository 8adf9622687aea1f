"""What must agree between a task's file and its folders, checked once at load time.

Whether the groups fail on ``before/`` and pass with the reference takes containers: that is admission, not loading.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from harness.errors import UserError
from harness.extract import DIFF_WORDS, last_block
from harness.suites.formats.foreign import GRADING_FOLDERS, ForeignTask, read_names
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.reply import REPLY, ReplyTask, module_of
from harness.suites.groups import InTreeGroup, PytestGroup, ReportGroup
from harness.suites.oracles import CasesOracle, CommandsOracle, HostHeldOracle, OperationsOracle
from harness.suites.task import Candidate, Task
from harness.suites.tree import Tree

Classes: TypeAlias = Mapping[str, ast.ClassDef]
"""The classes of a test file by name."""

MIN_ROWS = 3
"""Calls that a function task is graded by, at least."""


def check_task(task: Task) -> None:
    """Run every check.

    Raises:
        UserError: the first that fails, naming the file and the remedy.
    """
    _fits(task)
    _visible_tests(task)
    _hidden_is_used(task)
    _canaries(task)
    _candidates(task)
    _pinned_ids(task)
    if isinstance(task.spec, ReplyTask):
        _target(task, task.spec)
    if isinstance(task.spec, ForeignTask):
        _named_tests(task)
    if task.follow_up is not None:
        check_task(task.follow_up.task)


def _fits(task: Task) -> None:
    if not task.before and not isinstance(task.spec, FunctionTask | ForeignTask):
        raise UserError(str(task.folder / "before"), "is empty", "put the tree that the solver gets there")
    limits = task.limits
    trees = [("before", task.before), *((one.name, one.tree) for one in _all(task) if one.tree is not None)]
    for name, tree in trees:
        if tree.size > limits.workspace_mb * 1024**2 or tree.inodes > limits.workspace_inodes:
            raise UserError(
                str(task.folder / name),
                f"{tree.size} bytes and {tree.inodes} inodes don't fit into the workspace",
                "raise limits.workspace_mb or limits.workspace_inodes",
            )


def _visible_tests(task: Task) -> None:
    for path in task.visible_tests:
        if path not in task.before:
            raise UserError(
                str(task.folder / "task.toml"), f"visible test {path!r} is not in before/", "correct the path"
            )
        if path in task.reference.overlay or path in task.reference.delete:
            raise UserError(
                str(task.folder / "reference" / path),
                "the reference changes a visible test, which is restored before grading",
                "leave the test alone or take it off the visible tests",
            )


def _hidden_is_used(task: Task) -> None:
    used = {path.removeprefix("hidden/") for group in task.groups for path in group.hidden_files}
    for path in sorted(used - task.hidden.keys()):
        raise UserError(str(task.folder / "hidden" / path), "is missing, though a group names it", "create it")
    if isinstance(task.spec, ForeignTask):
        used |= {path for path in task.hidden if path.startswith(GRADING_FOLDERS) or "/" not in path}
    for path in sorted(task.hidden.keys() - used):
        raise UserError(str(task.folder / "hidden" / path), "is used by no group", "name it in a group or remove it")


def _canaries(task: Task) -> None:
    """The exposure canary is in each hidden file; no canary is in anything else but task.toml."""
    for group_name, oracle in task.oracles.items():
        if oracle.canary not in task.canaries[1:]:
            raise UserError(
                str(task.folder / "hidden"), f"group {group_name!r}: canary is not the task's", "copy canary.exposure"
            )
    for path, entry in task.hidden.items():
        if not all(canary.encode() in entry.data for canary in task.canaries[1:]):
            raise UserError(
                str(task.folder / "hidden" / path), "does not hold the exposure canary", "add canary.exposure to it"
            )
    for place, data in _shown(task):
        if any(canary.encode() in data for canary in task.canaries):
            raise UserError(f"{task.folder / place}", "holds a canary", "canaries stand in task.toml and hidden/ alone")


def _shown(task: Task) -> Iterator[tuple[str, bytes]]:
    yield "the prompt", task.prompt.encode()
    yield from (("before/" + path, entry.data) for path, entry in task.before.items())
    for one in _all(task):
        place = "reference" if one is task.reference else f"wrong/{one.name}"
        if one.reply is not None:
            yield f"{place}/{REPLY}", one.reply.encode()
            continue
        yield from ((f"{place}/{path}", entry.data) for path, entry in one.overlay.items())


def _candidates(task: Task) -> None:
    known = {one.name for one in task.wrong}
    folder = task.folder / "wrong"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name not in known:
            raise UserError(str(path), "has no [[wrong]] entry in task.toml", "add one that says what it gets wrong")
    seen: dict[Tree | bytes | None, str] = {_answer(task.reference): "the reference"}
    for one in task.wrong:
        answer = _answer(one)
        if answer in seen:
            raise UserError(str(folder / one.name), f"is identical to {seen[answer]}", "make it wrong in its own way")
        seen[answer] = f"wrong/{one.name}"


def _answer(one: Candidate) -> Tree | bytes | None:
    """What a candidate comes to; of a patch task's reply, its diff."""
    return one.tree if one.tree is not None or one.reply is None else last_block(one.reply.encode(), DIFF_WORDS)


def _target(task: Task, spec: ReplyTask) -> None:
    """What is graded is what the prompt asks for, and a function task by three rows at least."""
    if spec.target is not None and spec.export is not None:
        wanted = f"{module_of(spec.target)}:{spec.export}"
        for name, oracle in task.oracles.items():
            if not isinstance(oracle, CommandsOracle) and oracle.target != wanted:
                raise UserError(
                    f"{task.folder / 'hidden'}: target",
                    f"group {name!r} is about {oracle.target!r}, the task about {wanted!r}",
                    "write the task's target and export there",
                )
    rows = sum(_rows(oracle) for oracle in task.oracles.values())
    if isinstance(spec, FunctionTask) and rows < MIN_ROWS:
        raise UserError(
            str(task.folder / "hidden"), f"holds {rows} calls", f"a function is graded by {MIN_ROWS} at least"
        )


def _named_tests(task: Task) -> None:
    for group in task.groups:
        if isinstance(group, InTreeGroup | ReportGroup):
            try:
                read_names(task.hidden[group.tests.removeprefix("hidden/")].data)
            except ValueError as error:
                raise UserError(str(task.folder / group.tests), str(error), "import the task again") from error


def _rows(oracle: HostHeldOracle) -> int:
    match oracle:
        case CasesOracle():
            return len(oracle.cases)
        case OperationsOracle():
            return sum(len(scenario.steps) for scenario in oracle.scenarios)
        case CommandsOracle():
            return len(oracle.commands)
        case _:
            assert_never(oracle)


def _all(task: Task) -> tuple[Candidate, ...]:
    return (task.reference, *task.wrong)


def _pinned_ids(task: Task) -> None:
    """Each id names a test that its file defines, and each test of the files is pinned by some group."""
    groups = [group for group in task.groups if isinstance(group, PytestGroup)]
    pinned = {test.split("[")[0] for group in groups for test in group.ids}
    defined = {test for group in groups for test in _defined(task, group)}
    where = f"{task.folder / 'task.toml'}: groups"
    for test in sorted(pinned - defined):
        raise UserError(where, f"no test {test!r} is defined", "correct ids")
    for test in sorted(defined - pinned):
        raise UserError(where, f"test {test!r} is not pinned", "add it to ids")


def _defined(task: Task, group: PytestGroup) -> Iterator[str]:
    for path, entry in task.hidden_for(group).items():
        if path.endswith(".py"):
            try:
                module = ast.parse(entry.data)
            except (SyntaxError, ValueError) as error:
                raise UserError(str(task.folder / "hidden" / path), f"is not Python: {error}", "correct it") from error
            classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
            yield from (f"{path}::{name}" for name in _collected(module.body, classes))


def _collected(body: list[ast.stmt], classes: Classes) -> Iterator[str]:
    """What pytest collects: functions and classes by their names, and classes of unittest by any name."""
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test"):
                yield node.name
            case ast.ClassDef() if node.name.startswith("Test") or _is_unittest(node, classes):
                yield from (f"{node.name}::{name}" for name in _inherited(node, classes))
            case _:
                pass


def _inherited(node: ast.ClassDef, classes: Classes) -> dict[str, None]:
    """A class's own tests, and those of its bases in the same file."""
    found = dict.fromkeys(_collected(node.body, classes))
    for base, others in _bases(node, classes):
        if base in others:
            found |= _inherited(others[base], others)
    return found


def _is_unittest(node: ast.ClassDef, classes: Classes) -> bool:
    bases = _bases(node, classes)
    return any(base.endswith("TestCase") or (base in more and _is_unittest(more[base], more)) for base, more in bases)


def _bases(node: ast.ClassDef, classes: Classes) -> list[tuple[str, Classes]]:
    """The last words of a class's bases, each with the classes that it may be: not the class itself, of course."""
    others = {name: one for name, one in classes.items() if one is not node}
    words = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases)
    return [(word, others) for word in words]
