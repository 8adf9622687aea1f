"""``format = "parity"``: a compiled program, a spec that drifted from it, and a replacement that follows the spec."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.suites.formats.authored import ProjectTask
from harness.suites.formats.common import Line, refuse_repeats
from harness.suites.groups import GroupKind
from harness.suites.parse import FileModel
from harness.suites.paths import Name

BINARY = "binary"
"""The folder of the program's source and its sessions; nothing of it is in any container of a solver or grader."""
SWEEP_FILE = "sweep.py"
IMAGE_FILE = "image.json"
"""Written when the image is locked, so it is no part of the task."""

MIN_DEEP = 2


class DepartureSpec(FileModel):
    """One rule in which the program departs from its spec."""

    group: Name
    """The behaviour group that is about it."""
    rule: Line
    """What the program does, in one neutral sentence."""
    deep: bool = False
    """Whether few random sessions reach it; measured, not believed."""

    @property
    def switch(self) -> str:
        """The macro under which the source follows the spec in this rule."""
        return "AS_SPEC_" + self.group.upper().replace("-", "_")


class ParityTask(ProjectTask):
    """``format = "parity"``: make a replacement that follows the spec do what the program does."""

    parts: ClassVar[frozenset[str]] = ProjectTask.parts | {BINARY}

    format: Literal["parity"]
    binary: Annotated[Name, Field(max_length=31)]
    """The name in ``binary/<name>.c``, which becomes ``/opt/<name>/<name>`` for the solver and for no grader."""
    departure: Annotated[tuple[DepartureSpec, ...], Field(min_length=6, max_length=8)]

    @model_validator(mode="after")
    def _departures_are_graded(self) -> Self:
        refuse_repeats("departures", [one.group for one in self.departure])
        about = {one.group for one in self.departure}
        graded = {group.name for group in self.groups if group.kind is GroupKind.BEHAVIOUR}
        for name in sorted(about ^ graded):
            what = "is of no behaviour group" if name in about else "is missing; each behaviour group is about one"
            raise ValueError(f"departure {name!r} {what}")
        if sum(one.deep for one in self.departure) < MIN_DEEP:
            raise ValueError(f"departure should hold at least {MIN_DEEP} deep ones")
        return self
