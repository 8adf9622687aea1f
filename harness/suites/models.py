"""``task.toml`` and ``suite.toml`` as models: one discriminated union over the task formats.

Everything here is an author's text, checked key by key; what must agree with the folders beside it is checked by
:mod:`harness.suites.load`. ``docs/suites.md`` describes the same for authors.
"""

from __future__ import annotations

from typing import Annotated, Self, TypeAlias

from pydantic import Field, model_validator

from harness.suites.formats.common import Line, refuse_repeats
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.joule import JouleTask
from harness.suites.formats.parity import ParityTask
from harness.suites.formats.patch import PatchTask
from harness.suites.formats.repo import RepoTask
from harness.suites.parse import FileModel, SchemaOne
from harness.suites.paths import Name

Version = Annotated[str, Field(pattern=r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)$")]

TaskSpec: TypeAlias = RepoTask | FunctionTask | PatchTask | ParityTask | JouleTask | ForeignTask
"""Any task.toml. A new format is a new model here, told apart by ``format``."""

AnyTask = Annotated[TaskSpec, Field(discriminator="format")]

# --------------------------------------------------------------------------------------------------------- suite


class SuiteSpec(FileModel):
    """``suite.toml``: the suite's name, version and tasks, in the order they run."""

    schema_version: Annotated[SchemaOne, Field(alias="schema")]
    name: Name
    version: Version
    description: Line
    require_checklist: bool = False
    """Whether a task without a ``[[checklist]]`` is refused by admission."""
    tasks: Annotated[tuple[Name, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _no_task_twice(self) -> Self:
        refuse_repeats("tasks", list(self.tasks))
        return self
