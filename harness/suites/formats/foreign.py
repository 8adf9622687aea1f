"""``format = "foreign"``: a task that came from another benchmark's files. ``trialbox suite import`` writes it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from harness.digest import Digest, loads
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
from harness.suites.groups import ExitStatusGroup, GroupKind, InTreeGroup, ReportGroup, RewardGroup
from harness.suites.parse import FileModel, SchemaOne
from harness.suites.paths import Name, RelativePath

ForeignGroupSpec = Annotated[InTreeGroup | ReportGroup | RewardGroup | ExitStatusGroup, Field(discriminator="oracle")]

_TAKEN = frozenset({"proc", "sys", "dev", "tmp", "grade", "tests", "logs", "bin", "lib", "lib64", "sbin", "usr", "etc"})


def check_workspace(path: str) -> str:
    """Give *path* back if the tree can lie there.

    Raises:
        ValueError: it is not absolute and plain, or the system or the grader needs the place.
    """
    if not re.fullmatch(r"(?:/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)+", path):
        raise ValueError(f"workspace {path!r} should be an absolute path of plain names")
    if path.split("/")[1] in _TAKEN or (path + "/").startswith("/home/agent/"):
        raise ValueError(f"workspace {path!r} is a place that the container needs for something else")
    return path


WorkspacePath = Annotated[str, AfterValidator(check_workspace)]


GRADING_FOLDERS = ("tree/", "tests/")
"""Folders of ``hidden/`` that are laid over the tree, and into ``/tests``; other files there lie beside the scripts."""


SCRIPT = 'command -v python >/dev/null || { python() { python3 "$@"; }; export -f python; }; exec bash "$0"'
"""Runs the script ``$0``, for ``bash -c``. Other benchmarks' images have a ``python``, and their scripts call it; ours
may have ``python3`` alone."""


def read_names(data: bytes) -> tuple[str, ...]:
    """The tests that a group's file names.

    Raises:
        ValueError: it is no JSON list of names.
    """
    names = loads(data)
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("is no JSON list of one test's name or more")
    return tuple(dict.fromkeys(names))


class Dialect(StrEnum):
    """Whose files a task was."""

    SWE_BENCH = "swe-bench"
    SWE_BENCH_V5 = "swe-bench-v5"
    SWE_BENCH_PRO = "swe-bench-pro"
    SWE_BENCH_LIVE = "swe-bench-live"
    SWE_REBENCH = "swe-rebench"
    HARBOR = "harbor"
    TERMINAL_BENCH = "terminal-bench"
    VULCAN_BENCH = "vulcan-bench"


class Origin(FileModel):
    """Where a task came from. Predictions made elsewhere name it by ``id``."""

    dialect: Dialect
    id: Line
    not_carried: tuple[Line, ...] = ()
    """What the import could not carry, one line each: ``name: what it means here``."""


class PinnedImage(FileModel):
    """An image of the user's engine, by the engine's own id: whoever has it can run the task, no lock makes it anew."""

    id: Digest
    name: Line
    """What it was asked for by."""
    repository_digests: tuple[Line, ...] = ()


class ForeignTask(FileModel):
    """A task of another benchmark: graded as that benchmark does, sealed as ours are."""

    parts: ClassVar[frozenset[str]] = frozenset({"task.toml", "before", "reference", "hidden", "wrong"})

    schema_version: Annotated[SchemaOne, Field(alias="schema")]
    format: Literal["foreign"]
    title: Line
    """For authors and reports; never shown to a solver, in no hash."""
    prompt: RelativePath = "issue.md"
    image: Name = "python"
    pinned_image: PinnedImage | None = None
    """What ``image`` stands for, where it is no recipe of ours."""
    workspace: WorkspacePath = "/workspace"
    """Where the tree lies in the containers."""
    delete_at_grading: tuple[RelativePath, ...] = ()
    """Files that are taken out of the tree before the groups run; ``hidden/tree/`` is laid over it."""
    origin: Origin
    canary: Canaries | None = None
    provenance: Provenance
    limits: Limits = Limits()
    reference: ReferenceSpec = ReferenceSpec()
    has_reference: bool = True
    """False where no known-good fix came with the task; there is no ``reference/`` then."""
    wrong: tuple[WrongSpec, ...] = ()
    equivalent: tuple[EquivalentSpec, ...] = ()
    groups: Annotated[tuple[ForeignGroupSpec, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        refuse_repeats("groups", [group.name for group in self.groups])
        refuse_repeats("wrong candidates", [one.name for one in self.wrong])
        refuse_repeats("delete_at_grading", list(self.delete_at_grading))
        if not any(group.kind is GroupKind.BEHAVIOUR for group in self.groups):
            raise ValueError("groups holds no behaviour group")
        if self.canary is not None and self.canary.exposure is not None:
            raise ValueError("canary.exposure has no place here: the hidden files are as they came")
        return self

    @property
    def visible_tests(self) -> tuple[str, ...]:
        """None: the hidden tree is laid over whatever tests the solver saw."""
        return ()

    @property
    def oracle_visibility(self) -> OracleVisibility:
        """Hidden: what it is graded by is in ``hidden/``."""
        return OracleVisibility.HIDDEN
