"""What the ``task.toml`` of every format is made of: canaries, provenance, candidates."""

from __future__ import annotations

import datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.suites.edits import Edit, EditedTree
from harness.suites.parse import FileModel
from harness.suites.paths import Name, RelativePath

Line = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f\x7f]+$")]
PublicCanary = Annotated[str, Field(pattern=r"^trialbox-public-[0-9a-f]{32}$")]
ExposureCanary = Annotated[str, Field(pattern=r"^trialbox-exposure-[0-9a-f]{32}$")]


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
    """Whether it was not public on any known cutoff's day; ``trialbox suite check`` holds it to that."""
    notes: Annotated[str, Field(max_length=4000)] = ""
    upstream: Upstream | None = None

    @model_validator(mode="after")
    def _upstream_agrees(self) -> Self:
        if (self.author_kind is AuthorKind.UPSTREAM) != (self.upstream is not None):
            raise ValueError("author_kind 'upstream' and a table [provenance.upstream] go together")
        if self.published is not None and self.published < self.created:
            raise ValueError("published is before created")
        return self


class Format(StrEnum):
    """The task formats."""

    REPO = "repo"
    FUNCTION = "function"
    PATCH = "patch"
    PARITY = "parity"
    JOULE = "joule"
    FOREIGN = "foreign"


class OracleVisibility(StrEnum):
    """Whether a solver sees what it is graded by."""

    HIDDEN = "hidden"
    OPEN = "open"


class ReferenceSpec(FileModel):
    """What the known-good fix does besides laying ``reference/`` over ``before/``."""

    delete: tuple[RelativePath, ...] = ()


class CandidateKind(StrEnum):
    """What a candidate under ``wrong/`` shows about the task's grading; admission holds it to that."""

    WRONG = "wrong"
    """Plausible, and below 1.0."""
    PARTIAL = "partial"
    """Right in part: strictly between 0 and 1.0."""
    BREAKER = "breaker"
    """Passes some behaviour group and fails a regression group, so that its F is gated to 0."""


class CandidateSpec(FileModel):
    """A candidate that is not right, in the folder ``wrong/<name>/``."""

    name: Name
    kind: CandidateKind = CandidateKind.WRONG
    why: Line
    """What it gets wrong, for reviewers."""


class WrongSpec(CandidateSpec):
    """A candidate whose folder is laid over ``before/`` after the deletions, or with ``edit`` one without a folder."""

    delete: tuple[RelativePath, ...] = ()
    edit: tuple[Edit, ...] = ()
    on: EditedTree = EditedTree.BEFORE
    """What the edits start from."""

    @model_validator(mode="after")
    def _edits_or_a_folder(self) -> Self:
        if self.edit and self.delete:
            raise ValueError("edit and delete exclude each other")
        if self.on is not EditedTree.BEFORE and not self.edit:
            raise ValueError("on says what edits start from, and there is no edit")
        return self


class EquivalentSpec(FileModel):
    """A mutant of the reference that a reviewer found to behave as the reference does, so that nothing can kill it."""

    mutant: Annotated[str, Field(pattern=r"^[^\n]+:[1-9][0-9]*:[a-z]+:[0-9a-f]{8}$", max_length=400)]
    """Its id, as ``trialbox suite check --mutants`` prints it: path, line, operator, digest."""
    change: Line
    """The mutated line."""
    reason: Line
    """Why no input that the prompt allows tells the two apart."""


def refuse_repeats(what: str, names: list[str]) -> None:
    """Raise ValueError if a name is used twice."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"two {what} are named {repeated[0]!r}; each name is used once")
