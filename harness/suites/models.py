"""``task.toml`` and ``suite.toml`` as models: one discriminated union over the task formats.

Everything here is an author's text, checked key by key; what must agree with the folders beside it is checked by
:mod:`harness.suites.load`. ``docs/suites.md`` describes the same for authors.
"""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from harness.records import Limits
from harness.suites.groups import ExitStatusGroup, Group, GroupKind, GroupSpec
from harness.suites.parse import FileModel
from harness.suites.paths import Name, RelativePath

Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f\x7f]+$")]
PublicCanary = Annotated[str, Field(pattern=r"^trialbox-public-[0-9a-f]{32}$")]
ExposureCanary = Annotated[str, Field(pattern=r"^trialbox-exposure-[0-9a-f]{32}$")]
Version = Annotated[str, Field(pattern=r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$")]

# -------------------------------------------------------------------------------------------------- who and when


class AuthorKind(StrEnum):
    """Where a task's text comes from."""

    HAND = "hand"
    """Written for the suite by a person."""
    GENERATED = "generated"
    """Written for the suite by a model or a program."""
    UPSTREAM = "upstream"
    """Taken from a public project."""


class Canaries(FileModel):
    """Strings that should be seen nowhere else.

    ``public`` stands in task.toml alone: a model that gives it back has seen the published task. ``exposure`` stands in
    every hidden file: seen again, it means training or access, undecided. A solver is shown neither.
    """

    public: PublicCanary
    exposure: ExposureCanary | None = None


class Upstream(FileModel):
    """The public change that a task was made from."""

    project: Line
    version: Line | None = None
    fix: Line | None = None
    fix_date: datetime.date | None = None
    merged: datetime.date | None = None
    first_public: datetime.date | None = None


class Provenance(FileModel):
    """Who made the task, when, from what, and whether it meets the decontamination criteria.

    ``published`` is left out while the task is not public.
    """

    author_kind: AuthorKind
    created: datetime.date
    published: datetime.date | None = None
    licence: Line
    decontaminated: bool
    notes: Annotated[str, Field(max_length=4000)] = ""
    upstream: Upstream | None = None

    @model_validator(mode="after")
    def _upstream_agrees(self) -> Self:
        if (self.author_kind is AuthorKind.UPSTREAM) != (self.upstream is not None):
            raise ValueError("author_kind 'upstream' and a table [provenance.upstream] go together")
        if self.published is not None and self.published < self.created:
            raise ValueError("published is before created")
        return self


# --------------------------------------------------------------------------------------------------------- tasks


class Format(StrEnum):
    """The task formats."""

    REPO = "repo"
    JOULE = "joule"


class OracleVisibility(StrEnum):
    """Whether a solver sees what it is graded by."""

    HIDDEN = "hidden"
    OPEN = "open"


class ReferenceSpec(FileModel):
    """What the known-good fix does besides laying ``reference/`` over ``before/``."""

    delete: tuple[RelativePath, ...] = ()


class WrongSpec(FileModel):
    """A plausible wrong candidate: ``wrong/<name>/`` laid over ``before/`` after the deletions."""

    name: Name
    why: Line
    """What it gets wrong, for reviewers."""
    delete: tuple[RelativePath, ...] = ()


def _refuse_repeats(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"two {what} are named {repeated[0]!r}; each name is used once")


class RepoTask(FileModel):
    """``format = "repo"``: a multi-file project with hidden behaviour and regression groups."""

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    format: Literal["repo"]
    title: Line
    """For authors and reports; never shown to a solver, in no hash."""
    prompt: RelativePath = "issue.md"
    image: Name = "python"
    visible_tests: tuple[RelativePath, ...] = ()
    """Files of ``before/`` that are restored byte for byte before grading."""
    canary: Canaries
    provenance: Provenance
    limits: Limits = Limits()
    reference: ReferenceSpec = ReferenceSpec()
    wrong: tuple[WrongSpec, ...] = ()
    groups: Annotated[tuple[GroupSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        _refuse_repeats("groups", [group.name for group in self.groups])
        _refuse_repeats("wrong candidates", [one.name for one in self.wrong])
        _refuse_repeats("visible_tests", list(self.visible_tests))
        for kind in GroupKind:
            if not any(group.kind is kind for group in self.groups):
                raise ValueError(f"groups holds no {kind.value} group; a repo task needs at least one")
        if self.canary.exposure is None:
            raise ValueError("canary.exposure is missing; hidden files carry it")
        return self

    @property
    def oracle_visibility(self) -> OracleVisibility:
        """Hidden: the groups are in ``hidden/``."""
        return OracleVisibility.HIDDEN


class JouleTask(FileModel):
    """A plain joule-bench task: name, prompt, test_cmd and test_files, with ``before/`` and ``reference/`` beside.

    The other keys are ours and optional; without them the provenance is unknown.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    format: Literal["joule"] = "joule"
    name: Line
    """Treated as a title: never shown to a solver, in no hash."""
    prompt: Annotated[str, Field(min_length=1, max_length=100_000)]
    """The prompt's own text."""
    test_cmd: Annotated[str, Field(min_length=1)] | Annotated[tuple[str, ...], Field(min_length=1)]
    """Words, or one line for ``sh -c``; run in the workspace."""
    test_files: Annotated[tuple[RelativePath, ...], Field(min_length=1)]
    """Files of ``before/`` that are restored byte for byte before grading."""
    image: Name = "python"
    canary: Canaries | None = None
    provenance: Provenance | None = None
    limits: Limits = Limits()
    reference: ReferenceSpec = ReferenceSpec()
    wrong: tuple[WrongSpec, ...] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        _refuse_repeats("wrong candidates", [one.name for one in self.wrong])
        _refuse_repeats("test_files", list(self.test_files))
        if self.canary is not None and self.canary.exposure is not None:
            raise ValueError("canary.exposure has no place in a joule task, which hides nothing")
        return self

    @property
    def title(self) -> str:
        """The name, under the word that the other formats use."""
        return self.name

    @property
    def visible_tests(self) -> tuple[str, ...]:
        """The test files, under the word that the other formats use."""
        return self.test_files

    @property
    def groups(self) -> tuple[Group, ...]:
        """One behaviour group: the test command, judged by its exit status."""
        argv = ("sh", "-c", self.test_cmd) if isinstance(self.test_cmd, str) else self.test_cmd
        return (ExitStatusGroup(argv=argv),)

    @property
    def oracle_visibility(self) -> OracleVisibility:
        """Open: the solver sees the tests it is graded by."""
        return OracleVisibility.OPEN


TaskSpec: TypeAlias = RepoTask | JouleTask
"""Any task.toml. A new format is a new model here, told apart by ``format``."""

AnyTask = Annotated[TaskSpec, Field(discriminator="format")]

# --------------------------------------------------------------------------------------------------------- suite


class SuiteSpec(FileModel):
    """``suite.toml``: the suite's name, version and tasks, in the order they run."""

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    name: Name
    version: Version
    description: Line
    tasks: Annotated[tuple[Name, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _no_task_twice(self) -> Self:
        _refuse_repeats("tasks", list(self.tasks))
        return self
