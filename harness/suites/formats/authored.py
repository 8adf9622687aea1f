"""What the ``task.toml`` of every format of our own has in common, and the two optional tables beside it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from harness.records import Limits
from harness.suites.formats.common import (
    Canaries,
    CandidateSpec,
    EquivalentSpec,
    Line,
    OracleVisibility,
    Provenance,
    ReferenceSpec,
    WrongSpec,
    refuse_repeats,
)
from harness.suites.groups import (
    CasesGroup,
    CommandsGroup,
    Group,
    GroupKind,
    GroupSpec,
    OperationsGroup,
    PytestGroup,
)
from harness.suites.parse import FileModel, SchemaOne
from harness.suites.paths import Name, RelativePath

FOLLOW_UP = "follow_up"
"""The folder of a follow-up ticket, and the table that tells of it."""


class ChecklistEntry(FileModel):
    """One behaviour that the hidden material asserts, and where the prompt says so."""

    behaviour: Line
    prompt: Annotated[str, Field(min_length=1, max_length=2000)]
    """The prompt's own words; white space counts as one blank."""
    groups: Annotated[tuple[Name, ...], Field(min_length=1)]
    """The groups that assert it."""
    wrong: tuple[Name, ...] = ()
    """The candidates that get it wrong."""


FollowUpFile = Annotated[
    RelativePath,
    Field(pattern=rf"^{FOLLOW_UP}/hidden/."),
    AfterValidator(lambda path: path.removeprefix(f"{FOLLOW_UP}/")),
]
"""Written from the task's folder, kept from ``follow_up/``: there the follow-up's files lie as a task's own do."""


class _Cases(CasesGroup):
    file: FollowUpFile


class _Operations(OperationsGroup):
    file: FollowUpFile


class _Commands(CommandsGroup):
    file: FollowUpFile


class _Pytest(PytestGroup):
    files: Annotated[tuple[FollowUpFile, ...], Field(min_length=1)]


FollowUpGroup = Annotated[_Cases | _Operations | _Commands | _Pytest, Field(discriminator="oracle")]


class FollowUpSpec(FileModel):
    """``[follow_up]``: a later ticket on the same project, in the folder ``follow_up/``.

    The task's own groups go on holding, but for those in ``changes``.
    """

    prompt: RelativePath = f"{FOLLOW_UP}/issue.md"
    groups: Annotated[tuple[FollowUpGroup, ...], Field(min_length=1)]
    changes: tuple[Name, ...] = ()
    """Groups of the task that no longer hold afterwards."""
    reference: ReferenceSpec = ReferenceSpec()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        refuse_repeats("groups", [group.name for group in self.groups])
        refuse_repeats("changes", list(self.changes))
        _need(self.groups, GroupKind.BEHAVIOUR, "a follow-up")
        if not self.prompt.startswith(f"{FOLLOW_UP}/"):
            raise ValueError(f"prompt should lie in {FOLLOW_UP}/, got {self.prompt!r}")
        return self


class AuthoredTask(FileModel):
    """The keys of every format of our own.

    A format says in ``needs`` which kinds of groups it can't be without, and in ``parts`` what else than the prompt may
    lie in a task's folder.
    """

    needs: ClassVar[tuple[GroupKind, ...]] = (GroupKind.BEHAVIOUR, GroupKind.REGRESSION)
    parts: ClassVar[frozenset[str]] = frozenset({"task.toml", "before", "reference", "hidden", "wrong"})

    schema_version: Annotated[SchemaOne, Field(alias="schema")]
    title: Line
    """For authors and reports; never shown to a solver, in no hash."""
    prompt: RelativePath = "issue.md"
    image: Name = "python"
    visible_tests: tuple[RelativePath, ...] = ()
    """Files of ``before/`` that are restored byte for byte before grading."""
    canary: Canaries
    provenance: Provenance
    limits: Limits = Limits()
    wrong: tuple[CandidateSpec, ...] = ()
    equivalent: tuple[EquivalentSpec, ...] = ()
    checklist: tuple[ChecklistEntry, ...] = ()
    groups: Annotated[tuple[GroupSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        refuse_repeats("groups", [group.name for group in self.groups])
        refuse_repeats("wrong candidates", [one.name for one in self.wrong])
        refuse_repeats("equivalent mutants", [one.mutant for one in self.equivalent])
        refuse_repeats("visible_tests", list(self.visible_tests))
        for kind in self.needs:
            _need(self.groups, kind, "such a task")
        if self.canary.exposure is None:
            raise ValueError("canary.exposure is missing; hidden files carry it")
        for number, entry in enumerate(self.checklist):
            _known(f"checklist[{number}].groups", entry.groups, [group.name for group in self.groups])
            _known(f"checklist[{number}].wrong", entry.wrong, [one.name for one in self.wrong])
        return self

    @property
    def oracle_visibility(self) -> OracleVisibility:
        """Hidden: the groups are in ``hidden/``."""
        return OracleVisibility.HIDDEN


class ProjectTask(AuthoredTask):
    """A format whose solver works in a project's tree, which may later get a follow-up ticket."""

    parts: ClassVar[frozenset[str]] = AuthoredTask.parts | {FOLLOW_UP}

    reference: ReferenceSpec = ReferenceSpec()
    wrong: tuple[WrongSpec, ...] = ()
    follow_up: FollowUpSpec | None = None

    @model_validator(mode="after")
    def _follow_up_fits(self) -> Self:
        if self.follow_up is not None:
            own = [group.name for group in self.groups]
            _known("follow_up.changes", self.follow_up.changes, own)
            refuse_repeats("groups (the follow-up's included)", [*own, *(one.name for one in self.follow_up.groups)])
        return self


def _need(groups: tuple[Group, ...], kind: GroupKind, what: str) -> None:
    if not any(group.kind is kind for group in groups):
        raise ValueError(f"groups holds no {kind.value} group; {what} needs at least one")


def _known(key: str, names: tuple[str, ...], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{key} names {name!r}; known: {', '.join(known) or 'none'}")
