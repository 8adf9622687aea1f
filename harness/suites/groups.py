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
    IN_TREE = "in_tree"
    REPORT = "report"
    REWARD = "reward"


class Trust(StrEnum):
    """What a verdict rests on, best first."""

    HOST_HELD = "host_held"
    """Expected values never enter a container; the host compares observations."""
    IN_PROCESS = "in_process"
    """Expectations run beside the candidate in one process; sentinels make lying harder, not impossible."""
    IN_TREE = "in_tree"
    """Tests laid into the candidate's tree run with its own conftest and settings; results come from pytest's hooks."""
    REPORTED = "reported"
    """A script of the task's own prints results, on a stream that the candidate's code can write to as well."""
    EXIT_STATUS = "exit_status"
    """A command of the task's own says yes by exiting 0."""
    REWARD_FILE = "reward_file"
    """A script of the task's own writes a number to a file that the candidate's code can write to as well."""


def trust_of(oracle: OracleKind) -> Trust:
    """The trust that an oracle's verdicts carry."""
    match oracle:
        case OracleKind.CASES | OracleKind.OPERATIONS | OracleKind.COMMANDS:
            return Trust.HOST_HELD
        case OracleKind.PYTEST:
            return Trust.IN_PROCESS
        case OracleKind.EXIT_STATUS:
            return Trust.EXIT_STATUS
        case OracleKind.IN_TREE:
            return Trust.IN_TREE
        case OracleKind.REPORT:
            return Trust.REPORTED
        case OracleKind.REWARD:
            return Trust.REWARD_FILE
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
    """A command in the workspace, judged by exit status 0: a plain joule-bench task's one group, and imported ones."""

    name: Name = "tests"
    kind: GroupKind = GroupKind.BEHAVIOUR
    oracle: Literal["exit_status"] = "exit_status"
    argv: tuple[str, ...]

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """None: such a task hides nothing."""
        return ()


class ReportFormat(StrEnum):
    """How the results are read from what an imported task's script leaves."""

    PYTEST = "pytest"
    """Lines ``PASSED id`` (``-rA``) or ``id PASSED``."""
    UNITTEST = "unittest"
    """Lines ``test_x (module.Class) ... ok``, as unittest and Django print them."""
    SYMPY = "sympy"
    """Lines ``test_x ok``."""
    TESTS_JSON = "tests-json"
    """``{"tests": [{"name", "status"}]}``, written by the task's own ``parser.py OUT ERR JSON`` in the grader."""


class InTreeGroup(FileModel):
    """Tests by pytest's node ids, in files of ``hidden/tree/`` or of the tree itself, run with the tree's settings.

    Passed and expected failures pass; a skipped test passes in a regression group alone; a missing one fails.
    """

    name: Name
    kind: GroupKind
    oracle: Literal["in_tree"]
    tests: HiddenPath
    """A JSON list of ids, from the task's folder; it stays on the host."""
    python: Annotated[str, Field(pattern=r"^[A-Za-z0-9_./+-]+$", max_length=200)] = "python3"
    """The interpreter in the image that has pytest."""

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """The hidden files this group names, from the task's folder."""
        return (self.tests,)


class ReportGroup(FileModel):
    """Tests by name, looked up in the report of a script; groups that name the same script share one run of it.

    What passes is as for :class:`InTreeGroup`.
    """

    name: Name
    kind: GroupKind
    oracle: Literal["report"]
    tests: HiddenPath
    script: HiddenPath
    """Run by bash in the workspace."""
    report: ReportFormat
    parser: HiddenPath | None = None

    @model_validator(mode="after")
    def _parser_where_needed(self) -> Self:
        if (self.report is ReportFormat.TESTS_JSON) != (self.parser is not None):
            raise ValueError("report 'tests-json' and a parser go together")
        return self

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """The hidden files this group names, from the task's folder."""
        return (self.tests, self.script, *((self.parser,) if self.parser else ()))


class RewardSource(StrEnum):
    """Where a script leaves its verdict."""

    FILE = "file"
    """``/logs/verifier/reward.json``, else ``reward.txt``; passed if every number in it is at least 1."""
    PYTEST = "pytest"
    """pytest's summary in its output; passed if there are results and all passed."""


class RewardGroup(FileModel):
    """A script run beside ``hidden/tests/``, which lies in ``/tests``; it alone says whether the change is good."""

    name: Name
    kind: GroupKind
    oracle: Literal["reward"]
    script: HiddenPath
    source: RewardSource = RewardSource.FILE

    @property
    def hidden_files(self) -> tuple[str, ...]:
        """The hidden files this group names, from the task's folder."""
        return (self.script,)


GroupSpec = Annotated[CasesGroup | OperationsGroup | CommandsGroup | PytestGroup, Field(discriminator="oracle")]
ForeignGroup: TypeAlias = InTreeGroup | ReportGroup | RewardGroup
"""What imported tasks are graded by, besides commands."""

Group: TypeAlias = CasesGroup | OperationsGroup | CommandsGroup | PytestGroup | ExitStatusGroup | ForeignGroup
HostHeldGroup: TypeAlias = CasesGroup | OperationsGroup | CommandsGroup
