"""SWE-bench's rows as models, one for each dialect; which one a row speaks is told by its columns."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from harness.suites.foreign.rows import Row, TestNames, Words
from harness.suites.formats.foreign import Dialect
from harness.suites.parse import parse

Id = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[^\x00-\x1f/]+$")]
Repository = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")]


class _Instance(BaseModel):
    """What all dialects have. Columns that nobody here reads are left alone: data sets carry many."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    instance_id: Id
    repo: Repository
    base_commit: Annotated[str, Field(min_length=1, max_length=100)]
    problem_statement: Annotated[str, Field(min_length=1)]
    patch: str
    test_patch: str
    created_at: Any = None
    hints_text: str | None = None

    @property
    def prompt(self) -> str:
        """What the solver is told."""
        return self.problem_statement


class Classic(_Instance):
    """SWE-bench up to version 4, Lite and Verified: no command, no image."""

    fail: TestNames = Field(alias="FAIL_TO_PASS")
    passing: TestNames = Field(alias="PASS_TO_PASS")
    version: str | None = None


class V5(Classic):
    """Version 5: image, evaluation script and log parser come with the row."""

    image: Annotated[str, Field(min_length=1)]
    log_parser: str
    eval_script: Annotated[str, Field(min_length=1)]
    eval_type: str = "pass_and_fail"
    image_assets: Any = None


class Pro(_Instance):
    """SWE-bench Pro: lower-case lists, often as Python literals, and scripts in a folder beside the rows."""

    fail: TestNames = Field(alias="fail_to_pass")
    passing: TestNames = Field(alias="pass_to_pass")
    requirements: str | None = None
    interface: str | None = None
    before_repo_set_cmd: str | None = None
    selected_test_files_to_run: Words = ()
    dockerhub_tag: str | None = None

    @property
    def prompt(self) -> str:
        """The problem, the requirements and the interface, under the headings that the benchmark uses."""
        parts = [self.problem_statement]
        parts += [f"Requirements:\n{self.requirements}"] if self.requirements else []
        parts += [f"New interfaces introduced:\n{self.interface}"] if self.interface else []
        return "\n\n".join(parts)


class Live(Classic):
    """SWE-bench-Live: commands in the row, the log parser by name or as Python code."""

    docker_image: str | None = None
    rebuild_cmds: Words = ()
    test_cmds: Annotated[Words, Field(min_length=1)]
    print_cmds: Words = ()
    log_parser: str | None = None
    parser: str | None = None


class InstallConfig(BaseModel):
    """How SWE-rebench sets an instance up."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    test_cmd: str | Annotated[tuple[str, ...], Field(min_length=1)]
    log_parser: str = "parse_log_pytest"


class Rebench(Classic):
    """SWE-rebench: an install_config beside the classic columns."""

    install_config: InstallConfig
    docker_image: str | None = None
    image_name: str | None = None


Instance = V5 | Pro | Live | Rebench | Classic


def parse_instance(row: Row) -> Instance:
    """A row in the dialect that its columns speak.

    Raises:
        UserError: a column is missing or has another shape; the message names both.
    """
    columns = row.values.keys()
    values = {name: value for name, value in row.values.items() if value is not None and not name.startswith("\0")}
    kind: TypeAdapter[Any]
    if {"eval_script", "log_parser"} <= columns:
        kind = TypeAdapter(V5)
    elif "FAIL_TO_PASS" not in columns and "fail_to_pass" in columns:
        kind = TypeAdapter(Pro)
    elif "install_config" in columns:
        kind = TypeAdapter(Rebench)
    elif "test_cmds" in columns:
        kind = TypeAdapter(Live)
    else:
        kind = TypeAdapter(Classic)
    instance: Instance = parse(kind, values, _named(row))
    return instance


def _named(row: Row) -> str:
    name = row.values.get("instance_id")
    return f"{row.where}: {name}" if isinstance(name, str) and name not in row.where else row.where


def dialect_of(instance: Instance) -> Dialect:
    """The dialect of a parsed row."""
    match instance:
        case V5():
            return Dialect.SWE_BENCH_V5
        case Pro():
            return Dialect.SWE_BENCH_PRO
        case Live():
            return Dialect.SWE_BENCH_LIVE
        case Rebench():
            return Dialect.SWE_REBENCH
        case _:
            return Dialect.SWE_BENCH
