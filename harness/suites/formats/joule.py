"""A plain joule-bench task."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.records import Limits
from harness.suites.formats.common import (
    Canaries,
    EquivalentSpec,
    Line,
    OracleVisibility,
    Provenance,
    ReferenceSpec,
    WrongSpec,
    refuse_repeats,
)
from harness.suites.groups import ExitStatusGroup, Group
from harness.suites.parse import FileModel, SchemaOne
from harness.suites.paths import Name, RelativePath


class JouleTask(FileModel):
    """A plain joule-bench task: name, prompt, test_cmd and test_files, with ``before/`` and ``reference/`` beside.

    The other keys are ours and optional; without them the provenance is unknown.
    """

    schema_version: Annotated[SchemaOne, Field(alias="schema")] = 1
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
    equivalent: tuple[EquivalentSpec, ...] = ()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        refuse_repeats("wrong candidates", [one.name for one in self.wrong])
        refuse_repeats("equivalent mutants", [one.mutant for one in self.equivalent])
        refuse_repeats("test_files", list(self.test_files))
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
