"""What a solver's answer is, and the gates that it must pass before a group is asked.

The answer of a ``function`` task is one module, that of a ``patch`` task a diff. Both are looked for in the reply
first, then in the workspace; of every other format the workspace is the answer. Nothing here decides an outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from harness.change import changed_lines
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import UserError
from harness.extract import DIFF_WORDS, PYTHON_WORDS, Rung, last_block
from harness.outcomes import Gate
from harness.patching import PatchRefused, apply_patch
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.patch import PatchTask
from harness.suites.formats.reply import REPLY, TYPING_IMAGE, ReplyTask
from harness.suites.task import Candidate, Task
from harness.suites.tree import REGULAR, Entry, Tree
from harness.typegate import check_types
from harness.untrusted import Refused

Apply = Callable[[bytes], Tree]
"""Applies a diff to the task's ``before``; raises PatchRefused, or Refused for a tree that is not acceptable."""


class Bench(Protocol):
    """What it takes to apply a diff and to check types: an engine, our images, and a label for what is left over."""

    @property
    def engine(self) -> Engine: ...
    @property
    def images(self) -> Mapping[str, BuiltImage]: ...
    @property
    def owner(self) -> str: ...


@dataclass(frozen=True)
class Answer:
    """What is graded. ``rung`` is None where the format takes the workspace as it is."""

    tree: Tree
    rung: Rung | None


@dataclass(frozen=True)
class NoAnswer:
    """Neither rung holds one."""

    reason: str


@dataclass(frozen=True)
class GateFailure:
    """An answer that stopped at a gate. ``detail`` is one line, safe to show."""

    gate: Gate
    detail: str
    rung: Rung | None = None


def find_answer(task: Task, reply: bytes, left: Tree, apply: Apply) -> Answer | NoAnswer | GateFailure:
    """Read the answer.

    Args:
        task: the task.
        reply: what the solver printed; empty if its output is no reply.
        left: the tree that it left in the workspace.
        apply: see :data:`Apply`.

    Raises:
        Refused: a diff made a tree that is not acceptable.
    """
    match task.spec:
        case FunctionTask():
            return _module(task, task.spec, reply, left)
        case PatchTask():
            return _diff(task, reply, left, apply)
        case _:
            return Answer(left, None)


def _module(task: Task, spec: FunctionTask, reply: bytes, left: Tree) -> Answer | NoAnswer:
    """The target alone, whatever else lies beside it: the format asks for one file."""
    block = last_block(reply, PYTHON_WORDS)
    entry, rung = left.get(spec.target), Rung.WORKSPACE
    if block is not None:
        entry, rung = Entry(spec.target, REGULAR, block), Rung.REPLY
    if entry is None or (rung is Rung.WORKSPACE and entry == task.before.get(spec.target)):
        return NoAnswer(f"the reply holds no Python block, and {spec.target} was not written")
    return Answer(task.before.overlay(Tree([entry])), rung)


def _diff(task: Task, reply: bytes, left: Tree, apply: Apply) -> Answer | NoAnswer | GateFailure:
    block = last_block(reply, DIFF_WORDS)
    if block is not None:
        try:
            return Answer(apply(block), Rung.REPLY)
        except PatchRefused as refused:
            return GateFailure(Gate.APPLY, refused.detail, Rung.REPLY)
    if left == task.before:
        return NoAnswer("the reply holds no diff block, and the workspace is as it was")
    return Answer(left, Rung.WORKSPACE)


def gate_failure(task: Task, tree: Tree, bench: Bench) -> GateFailure | None:
    """The first gate before the groups that an answer's tree fails; None if it may be graded.

    Raises:
        InfraError: the engine failed.
    """
    spec = task.spec
    budget = spec.budget_lines if isinstance(spec, PatchTask) else None
    if budget is not None and changed_lines(task.before, tree, budget) > budget:
        return GateFailure(Gate.BUDGET, f"more than {budget} lines are changed")
    if isinstance(spec, ReplyTask) and spec.typecheck and spec.target is not None:
        image = bench.images[TYPING_IMAGE].handle
        problem = check_types(bench.engine, image, tree, spec.target, bench.owner)
        if problem is not None:
            return GateFailure(Gate.TYPECHECK, problem)
    return None


def applier(task: Task, bench: Bench) -> Apply:
    """Applies diffs to the task's ``before`` in throwaway containers."""
    base = bench.images["base"].handle
    return lambda diff: apply_patch(bench.engine, base, task.before, diff, task.limits, bench.owner)


def candidate_tree(task: Task, candidate: Candidate, bench: Bench) -> Tree:
    """The whole tree of one of the task's own candidates. That of a patch task takes a container each time.

    Raises:
        UserError: its diff does not apply, or makes no tree.
        InfraError: the engine failed.
    """
    if candidate.tree is not None:
        return candidate.tree
    folder = task.folder / "reference" if candidate.kind is None else task.folder / "wrong" / candidate.name
    reply = (candidate.reply or "").encode()
    try:
        found = find_answer(task, reply, task.before, applier(task, bench))
    except Refused as refused:
        raise UserError(str(folder / REPLY), f"its diff makes no tree: {refused}", "correct the diff") from refused
    if not isinstance(found, Answer):
        problem = found.detail if isinstance(found, GateFailure) else found.reason
        raise UserError(str(folder / REPLY), f"its diff does not apply: {problem}", "make it against before/")
    return found.tree
