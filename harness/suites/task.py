"""A task and a suite as loaded: everything in memory, checked, immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UserError
from harness.program import Program
from harness.records import Limits
from harness.suites.formats.common import CandidateKind, OracleVisibility
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.reply import TYPING_IMAGE, ReplyTask
from harness.suites.groups import Group, OracleKind, Trust, trust_of
from harness.suites.models import SuiteSpec, TaskSpec
from harness.suites.oracles import HostHeldOracle
from harness.suites.tree import Tree


@dataclass(frozen=True)
class Candidate:
    """A solution that comes with the task: the reference, or a wrong one."""

    name: str
    why: str
    """What is wrong with it; empty for the reference."""
    kind: CandidateKind | None
    """What it shows; None for the reference."""
    overlay: Tree
    delete: tuple[str, ...]
    tree: Tree | None
    """The whole result: ``before`` less the deletions, with the overlay laid over it. None for the reply of a patch
    task, whose diff is applied in a container (:func:`harness.replies.candidate_tree`)."""
    reply: str | None = None
    """What a worker answers, where the format takes replies; the built-in solvers print it."""


@dataclass(frozen=True)
class Task:
    """One task. ``id`` is its folder's name; nothing but ``prompt`` and ``before`` is for a solver."""

    id: str
    folder: Path
    spec: TaskSpec
    prompt: str
    before: Tree
    hidden: Tree
    """By path within ``hidden/``."""
    reference: Candidate
    wrong: tuple[Candidate, ...]
    oracles: Mapping[str, HostHeldOracle]
    """By group name, for the groups whose expectations the host holds."""
    follow_up: FollowUp | None = None
    """A later ticket on the same project."""
    program: Program | None = None
    """Of a parity task: what is compiled into the solver's image."""
    binary: Tree = field(default_factory=Tree)
    """The source and the sessions of that program, by path within ``binary/``; hidden as ``hidden`` is."""

    @property
    def groups(self) -> tuple[Group, ...]:
        """What F is made of, in the order of the task file."""
        return self.spec.groups

    @property
    def workspace(self) -> str:
        """Where the tree lies in the containers."""
        return self.spec.workspace if isinstance(self.spec, ForeignTask) else "/workspace"

    @property
    def limits(self) -> Limits:
        """What an attempt may use."""
        return self.spec.limits

    @property
    def image(self) -> str:
        """The name of the image that it is graded in."""
        return self.spec.image

    @property
    def solver_image(self) -> str:
        """The name of the image that a solver works in: that of grading, or one with a program to take apart."""
        return self.program.image if self.program is not None else self.image

    @property
    def images(self) -> tuple[str, ...]:
        """The images that an attempt needs besides our own: to grade in, to check types in if asked, to solve in."""
        checked = isinstance(self.spec, ReplyTask) and self.spec.typecheck
        own = (self.image, TYPING_IMAGE) if checked else (self.image,)
        return (*own, self.solver_image) if self.program is not None else own

    @property
    def visible_tests(self) -> tuple[str, ...]:
        """Paths of ``before`` that are restored byte for byte before grading."""
        return self.spec.visible_tests

    @property
    def oracle_visibility(self) -> OracleVisibility:
        """Whether the solver sees what it is graded by."""
        return self.spec.oracle_visibility

    @property
    def trust(self) -> Trust:
        """The lowest trust of any group."""
        order = list(Trust)
        return max((trust_of(OracleKind(group.oracle)) for group in self.groups), key=order.index)

    @property
    def canaries(self) -> tuple[str, ...]:
        """Every canary of the task, public first."""
        canary = self.spec.canary
        return tuple(text for text in (canary.public, canary.exposure) if text) if canary else ()

    def hidden_for(self, group: Group) -> Tree:
        """The hidden files that one group needs, by path within ``hidden/``."""
        return Tree(self.hidden[path.removeprefix("hidden/")] for path in group.hidden_files)


@dataclass(frozen=True)
class FollowUp:
    """A later ticket, as written, and the task that it makes of the project as the reference left it.

    ``task`` starts from the reference's tree. Its groups are the follow-up's own and those of the first task that go on
    holding, which are regression groups there; its reference is the follow-up's.
    """

    prompt: str
    hidden: Tree
    groups: tuple[Group, ...]
    changes: tuple[str, ...]
    """Groups of the first task that no longer hold."""
    task: Task


@dataclass(frozen=True)
class Suite:
    """A suite and its tasks, in the order of its ``suite.toml``.

    ``errors`` is empty unless it was loaded with ``keep_going``; a suite with errors has no identity.
    """

    spec: SuiteSpec
    folder: Path
    tasks: tuple[Task, ...]
    errors: tuple[UserError, ...] = ()

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.spec.name

    @property
    def programs(self) -> tuple[Program, ...]:
        """What is compiled into images for the suite's solvers."""
        return tuple(task.program for task in self.tasks if task.program is not None)

    @property
    def version(self) -> str:
        """The suite's version."""
        return self.spec.version

    def task(self, task_id: str) -> Task:
        """The task of that id.

        Raises:
            UserError: the suite has none.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        known = ", ".join(task.id for task in self.tasks)
        raise UserError(f"suite {self.name}", f"has no task {task_id!r}", f"its tasks are: {known}")
