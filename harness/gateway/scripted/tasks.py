"""A task's own candidate as a script: what a dry run has a real agent do."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from harness.errors import UserError
from harness.extract import DIFF_WORDS, last_block
from harness.gateway.scripted import shell
from harness.gateway.scripted.script import By, Dialect, Script, ToolSpec, Turn, WriteSpec
from harness.suites.edits import difference
from harness.suites.task import Candidate, Task
from harness.suites.tree import EXECUTABLE, LINK, Entry, Tree

_HEAD = "reference"


def candidate_named(task: Task, name: str) -> Candidate:
    """The reference, or a wrong candidate by its name.

    Raises:
        UserError: the task has none of that name.
    """
    for one in (task.reference, *task.wrong):
        if one.name == name or (name == _HEAD and one is task.reference):
            return one
    names = ", ".join((_HEAD, *(one.name for one in task.wrong)))
    raise UserError(f"task {task.id}", f"has no candidate {name!r}", f"it has: {names}")


def script_for(task: Task, candidate: Candidate | None = None, tree: Tree | None = None) -> Script:
    """The script by which an agent makes a candidate of a task, and a worker replies with it.

    Args:
        task: the task.
        candidate: one of its candidates; the reference if None.
        tree: its whole result, where the caller knows it. Without it, the diff of a patch task is applied by git in
            the workspace, which an agent without a shell can't do.

    Raises:
        UserError: the candidate changes nothing, as that of an imported task without a fix.
    """
    one = candidate or task.reference
    turns = list(_turns(task, one, one.tree if one.tree is not None else tree))
    finish = Turn(say=one.reply or "The work is done.", done=True)
    return Script(
        dialect=Dialect.AUTO,
        workspace=task.workspace,
        reply=one.reply,
        turns=(*turns, finish),
    )


def _turns(task: Task, one: Candidate, tree: Tree | None) -> Iterator[Turn]:
    if tree is not None:
        doings = tuple(_doings(task, *difference(task.before, tree)))
        if not doings:
            raise UserError(f"task {task.id}", f"has no {one.name} that changes anything", "leave the task out")
        yield Turn(say="I make the change.", tools=doings)
        return
    diff = last_block((one.reply or "").encode(), DIFF_WORDS)
    if diff is None:
        raise UserError(f"task {task.id}", f"the tree of its {one.name} is not known", "give it")
    for command in shell.packed(shell.apply_diff(diff)):
        yield Turn(say="I apply the change.", tool=_command(command))


def _doings(task: Task, overlay: Tree, gone: tuple[str, ...]) -> Iterator[ToolSpec]:
    yield from (ToolSpec(delete=path) for path in gone)
    for path, entry in overlay.items():
        if entry.mode == LINK:
            yield _command(shell.link(path, entry.data))
        else:
            yield ToolSpec(write=_write(entry, task.before.get(path)))


def _command(text: str) -> ToolSpec:
    return ToolSpec.model_validate({"shell": text})


def _write(entry: Entry, before: Entry | None) -> WriteSpec:
    text = _text(entry)
    return WriteSpec(
        path=entry.path,
        content=text,
        base64=base64.b64encode(entry.data).decode() if text is None else None,
        executable=entry.mode == EXECUTABLE,
        old=_text(before) if before is not None and before.mode != LINK else None,
        # The write tools of some agents take no file that they have not read.
        by=By.TOOL if before is None else By.SHELL,
    )


def _text(entry: Entry) -> str | None:
    try:
        return entry.data.decode()
    except UnicodeDecodeError:
        return None
