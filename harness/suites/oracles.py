"""What a group's file in ``hidden/`` holds, split into what may enter a container and what never does.

``inputs()`` is all that a grader's container gets; ``expectations()``, of the same length, stays on the host, which
compares. ``docs/suites.md`` says how each file is carried out; the code that does so is in ``harness/oracles``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, JsonValue, model_validator

from harness.records import Record
from harness.suites.parse import FileModel
from harness.suites.paths import RelativePath
from harness.suites.values import Value

Target = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
Text = Annotated[str, Field(max_length=1_048_576)]

TOO_WIDE = frozenset({"Exception", "BaseException", "object"})


class Returned(Record):
    """The call gave this value back."""

    kind: Literal["returned"] = "returned"
    value: Value


class Raised(Record):
    """The call raised: the bare name of the exception's class, or of one of its bases."""

    kind: Literal["raised"] = "raised"
    name: str


CallExpectation: TypeAlias = Returned | Raised


class Expecting(FileModel):
    """A call's outcome in a file: exactly one of ``expect`` (a value, null included) and ``raises``."""

    expect: Value = None
    raises: Identifier | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if ("expect" in self.model_fields_set) == (self.raises is not None):
            raise ValueError("needs exactly one of expect and raises")
        if self.raises in TOO_WIDE:
            raise ValueError(f"raises = {self.raises!r} would accept any failure: name the documented exception")
        return self

    @property
    def expectation(self) -> CallExpectation:
        """The outcome to compare with."""
        return Returned(value=self.expect) if self.raises is None else Raised(name=self.raises)


class Arguments(FileModel):
    """What a call is given. Each call gets values of its own, decoded afresh."""

    args: tuple[Value, ...] = ()
    kwargs: dict[Identifier, Value] = Field(default_factory=dict)

    def as_input(self) -> dict[str, JsonValue]:
        """The part that enters the container."""
        return {"args": list(self.args), "kwargs": dict(self.kwargs)}


class Case(Expecting, Arguments):
    """One call of the target function."""


class CasesOracle(FileModel):
    """Calls of one function: in order, in one process that imports the target once."""

    canary: str
    target: Target
    cases: Annotated[tuple[Case, ...], Field(min_length=1)]

    def inputs(self) -> list[dict[str, JsonValue]]:
        """One ``{args, kwargs}`` for each case."""
        return [case.as_input() for case in self.cases]

    def expectations(self) -> list[CallExpectation]:
        """One outcome for each case."""
        return [case.expectation for case in self.cases]


class Step(Expecting, Arguments):
    """One call of a method."""

    call: Identifier

    def as_input(self) -> dict[str, JsonValue]:
        """The part that enters the container."""
        return {"call": self.call, **super().as_input()}


class Scenario(FileModel):
    """A fresh instance and the calls made on it, in order."""

    init: Arguments = Arguments()
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class OperationsOracle(FileModel):
    """Scenarios on one class: in order, in one process that imports the target once."""

    canary: str
    target: Target
    scenarios: Annotated[tuple[Scenario, ...], Field(min_length=1)]

    def inputs(self) -> list[dict[str, JsonValue]]:
        """One ``{init: {args, kwargs}, steps: [{call, args, kwargs}]}`` for each scenario."""
        return [
            {"init": one.init.as_input(), "steps": [step.as_input() for step in one.steps]} for one in self.scenarios
        ]

    def expectations(self) -> list[tuple[CallExpectation, ...]]:
        """For each scenario, one outcome for each of its steps."""
        return [tuple(step.expectation for step in one.steps) for one in self.scenarios]


class CommandExpectation(FileModel):
    """What a command leaves behind. Null or left-out ``stdout`` is not compared; a file set to null must be absent."""

    status: Annotated[int, Field(ge=0, le=255)]
    stdout: Text | None = None
    files: dict[RelativePath, Text | None] = Field(default_factory=dict)

    @property
    def texts(self) -> set[str]:
        """The files that must be there."""
        return {path for path, text in self.files.items() if text is not None}


class Command(FileModel):
    """One program run in a fresh folder that holds ``files`` and nothing else."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    stdin: Text = ""
    files: dict[RelativePath, Text] = Field(default_factory=dict)
    expect: CommandExpectation

    @model_validator(mode="after")
    def _runnable(self) -> Self:
        if any("\0" in word for word in self.argv) or not self.argv[0]:
            raise ValueError("argv holds an empty program name or a NUL byte")
        for label, paths in (("files", self.files), ("expect.files", self.expect.texts)):
            if inside := next((path for path in paths if any(folder in paths for folder in _folders(path))), None):
                raise ValueError(f"{label} has {inside!r}, inside of what is itself a file there")
        return self


def _folders(path: str) -> list[str]:
    """``a`` and ``a/b`` for ``a/b/c``."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


class CommandsOracle(FileModel):
    """Independent commands: each has its own folder, so none sees what another wrote."""

    canary: str
    commands: Annotated[tuple[Command, ...], Field(min_length=1)]

    def inputs(self) -> list[dict[str, JsonValue]]:
        """One ``{argv, stdin, files, outputs}`` for each command; ``outputs`` are names of files to read back."""
        return [
            {
                "argv": list(one.argv),
                "stdin": one.stdin,
                "files": dict(one.files),
                "outputs": [*sorted(one.expect.files)],
            }
            for one in self.commands
        ]

    def expectations(self) -> list[CommandExpectation]:
        """One for each command."""
        return [one.expect for one in self.commands]


HostHeldOracle: TypeAlias = CasesOracle | OperationsOracle | CommandsOracle


def inputs_and_expectations(oracle: HostHeldOracle) -> tuple[list[dict[str, JsonValue]], list[Any]]:
    """Both halves, checked to be of one length."""
    inputs, expectations = oracle.inputs(), list(oracle.expectations())
    if len(inputs) != len(expectations):
        raise ValueError("inputs and expectations differ in length")
    return inputs, expectations
