"""The groups of a task: what each grades by, what its result means for F, and what trust its verdicts carry."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self, TypeAlias, assert_never

from pydantic import Field, model_validator

from harness.records import Record
from harness.suites.parse import FileModel
from harness.suites.paths import Name, RelativePath


class GroupKind(StrEnum):
    """What a group's result means for F."""

    BEHAVIOUR = "behaviour"
    """Fails on before/ and passes with the reference; counts towards F."""
    REGRESSION = "regression"
    """Passes on before/ and must go on passing; a failure gates F to 0."""


class OracleKind(StrEnum):
    """How a group is graded."""

    CASES = "cases"
    OPERATIONS = "operations"
    COMMANDS = "commands"
    PYTEST = "pytest"
    EXIT_STATUS = "exit_status"


class Trust(StrEnum):
    """What a verdict rests on, best first."""

    HOST_HELD = "host_held"
    """Expected values never enter a container; the host compares observations."""
    IN_PROCESS = "in_process"
    """Expectations run beside the candidate in one process; sentinels make lying harder, not impossible."""
    EXIT_STATUS = "exit_status"
    """A command of the task's own says yes by exiting 0."""


def trust_of(oracle: OracleKind) -> Trust:
    """The trust that an oracle's verdicts carry."""
    match oracle:
        case OracleKind.CASES | OracleKind.OPERATIONS | OracleKind.COMMANDS:
            return Trust.HOST_HELD
        case OracleKind.PYTEST:
            return Trust.IN_PROCESS
        case OracleKind.EXIT_STATUS:
            return Trust.EXIT_STATUS
        case _:
            assert_never(oracle)


HiddenPath = Annotated[RelativePath, Field(pattern=r"^hidden/.")]
PytestId = Annotated[str, Field(pattern=r"^[^:\s][^:]*\.py(?:::[A-Za-z_]\w*)+(?:\[[^\]\n]+\])?$", max_length=400)]


class _HostHeldGroup(FileModel):
    name: Name
    kind: GroupKind
    file: HiddenPath
    """The oracle file, from the task's folder."""

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """The hidden files this group needs, from the task's folder."""
        return (self.file,)


class CasesGroup(_HostHeldGroup):
    """Calls of a function (:class:`harness.suites.oracles.CasesOracle`)."""

    oracle: Literal["cases"]


class OperationsGroup(_HostHeldGroup):
    """Calls on instances of a class (:class:`harness.suites.oracles.OperationsOracle`)."""

    oracle: Literal["operations"]


class CommandsGroup(_HostHeldGroup):
    """Programs run with arguments, input and files (:class:`harness.suites.oracles.CommandsOracle`)."""

    oracle: Literal["commands"]


class PytestGroup(FileModel):
    """Tests run by pytest from ``hidden/``: exactly the ids named, so their number is pinned too.

    ``files`` are all the hidden files the group stages, from the task's folder; an id's file part is its path within
    ``hidden/``, so ``hidden/test_a.py`` has ids ``test_a.py::test_x``.
    """

    name: Name
    kind: GroupKind
    oracle: Literal["pytest"]
    files: Annotated[tuple[HiddenPath, ...], Field(min_length=1)]
    ids: Annotated[tuple[PytestId, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_in_files(self) -> Self:
        for label, values in (("files", self.files), ("ids", self.ids)):
            if len(set(values)) != len(values):
                raise ValueError(f"{label} names something twice")
        for one in self.ids:
            if "hidden/" + one.split("::")[0] not in self.files:
                raise ValueError(f"id {one!r} is not in files: expected 'hidden/{one.split('::')[0]}' there")
        return self

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """The hidden files this group needs, from the task's folder."""
        return self.files


class ExitStatusGroup(Record):
    """A plain joule-bench task's one group: ``test_cmd`` in the workspace, judged by exit status 0.

    Made by the loader; no task.toml can ask for it.
    """

    name: Name = "tests"
    kind: GroupKind = GroupKind.BEHAVIOUR
    oracle: Literal["exit_status"] = "exit_status"
    argv: tuple[str, ...]

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """None: such a task hides nothing."""
        return ()


GroupSpec = Annotated[CasesGroup | OperationsGroup | CommandsGroup | PytestGroup, Field(discriminator="oracle")]
Group: TypeAlias = CasesGroup | OperationsGroup | CommandsGroup | PytestGroup | ExitStatusGroup
HostHeldGroup: TypeAlias = CasesGroup | OperationsGroup | CommandsGroup
