"""The nouns that every room shares: frozen, closed, and exact.

Times are integer microseconds (nanoseconds since the epoch do not fit in RFC 8785), sizes integer bytes, energies
integer microjoules. A figure that could not be had is ``None`` with its reason in a sibling field, never 0. There are
no floats. Every record can be written as canonical JSON with :func:`to_json` and read back unchanged.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from harness import digest as _digest
from harness.digest import Digest
from harness.errors import VerifyError

Count = Annotated[int, Field(ge=0, le=_digest.MAX_SAFE_INTEGER)]
Microseconds = Count
MediaType = Annotated[str, Field(pattern=r"^[a-z0-9.+-]+/[a-z0-9.+-]+$")]


class Record(BaseModel):
    """Base of every stored record: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Grown(Record):
    """A record that got fields after some had been written.

    ``later`` names them. One that holds its default is left out, so that older records keep their bytes and digests.
    """

    later: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        value: dict[str, Any] = write(self)
        fields = type(self).model_fields
        unset = {n for n in self.later if getattr(self, n) == fields[n].get_default(call_default_factory=True)}
        return {name: item for name, item in value.items() if name not in unset}


R = TypeVar("R", bound=BaseModel)


def to_value(record: BaseModel) -> Any:
    """The record as plain JSON values."""
    return record.model_dump(mode="json")


def to_json(record: BaseModel) -> bytes:
    """The record as RFC 8785 bytes: what is stored and hashed."""
    return _digest.canonical(to_value(record))


def from_json(kind: type[R], data: bytes, where: str = "record") -> R:
    """Read a record back.

    Raises:
        VerifyError: the bytes are not a record of this kind.
    """
    try:
        return kind.model_validate(_digest.loads(data))
    except (ValueError, ValidationError) as error:
        said = f"is no {kind.__name__}: {_first(error)}"
        raise VerifyError(where, said, "restore it from a copy or run again") from error


def _first(error: ValueError) -> str:
    """The first fault in one line, with the place of the field."""
    if not isinstance(error, ValidationError):
        return str(error).splitlines()[0]
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"]))[:200]
    said = fault["msg"].removeprefix("Value error, ")
    return " ".join((f"{place}: {said}" if place else said).split())


class BlobRef(Record):
    """Bytes in the store, by digest."""

    digest: Digest
    size: Count
    media_type: MediaType


# --------------------------------------------------------------------------------------------------- limits and image


class Limits(Record):
    """What one attempt may use. Part of the task's score hash, read back from the cgroup, and on the card.

    ``memory_mb`` must leave headroom over both volumes: tmpfs pages and about 1 KB an inode count against it.
    ``pids`` stays at or under 512 since a larger bomb can take minutes to die.
    """

    wall_s: Annotated[int, Field(ge=1, le=864_000)] = 36_000
    grade_wall_s: Annotated[int, Field(ge=1, le=36_000)] = 60
    memory_mb: Annotated[int, Field(ge=128, le=1_048_576)] = 1024
    cpus: Annotated[int, Field(ge=1, le=1024)] = 1
    pids: Annotated[int, Field(ge=16, le=512)] = 256
    workspace_mb: Annotated[int, Field(ge=1, le=65_536)] = 256
    workspace_inodes: Annotated[int, Field(ge=64, le=2_000_000)] = 50_000
    home_mb: Annotated[int, Field(ge=1, le=65_536)] = 64
    home_inodes: Annotated[int, Field(ge=64, le=2_000_000)] = 20_000
    tmp_mb: Annotated[int, Field(ge=1, le=65_536)] = 64
    output_kb: Annotated[int, Field(ge=1, le=1_048_576)] = 1024


class ExecutionMode(StrEnum):
    """How the attempt's work came about (B7): a closed set."""

    SEALED = "sealed"
    SEALED_VM_ENGINE = "sealed_vm_engine"
    FOREIGN_PATCH = "foreign_patch"
    SCRIPTED = "scripted"


class RunMode(StrEnum):
    """Whether a run may spend: ``dry`` never reaches a provider."""

    DRY = "dry"
    REAL = "real"


class Coverage(StrEnum):
    """How much of a channel a trace saw."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class ImageRef(Record):
    """An image by our own identity.

    ``id`` is the digest over our archive's config and layer diff ids; an engine's id is only a handle and is not kept.
    ``lock`` is the digest of the lock that the image was meant to be built from; ``drift`` says that other versions
    than the locked ones went in.
    """

    name: str
    id: Digest
    lock: Digest
    drift: bool = False
    locked: bool = True
    """False for an image of the user's engine that a task is pinned to: ``id`` is then the engine's, and no lock makes
    it anew."""


# ------------------------------------------------------------------------------------------------------------- identity


class TaskRef(Record):
    """A task by content: ``score_hash`` covers all that can move a score, ``authoring_hash`` the rest."""

    suite: str
    suite_version: str
    task: str
    score_hash: Digest
    authoring_hash: Digest


class SuiteRef(Record):
    """A suite's identity is ``version:hash``, over its tasks' score hashes."""

    name: str
    version: str
    hash: Digest


class SolverRef(Grown):
    """Who attempts: a name unique in the plan, and what stands behind it. Unknown fields read ``unknown``.

    ``provider`` is where its model is reached and ``billing`` how that is paid; both are None where it needs none.
    """

    later = frozenset({"provider", "billing"})

    name: str
    kind: str
    model: str = "unknown"
    harness: str = "unknown"
    harness_version: str = "unknown"
    effort_requested: str = "unknown"
    manifest: Digest
    provider: str | None = None
    billing: Literal["api", "subscription", "local"] | None = None


class Cell(Record):
    """One planned attempt: a solver, a task, and which try of ``attempts`` (from 1)."""

    solver: str
    task: str
    attempt: Annotated[int, Field(ge=1)]

    @property
    def key(self) -> str:
        """The cell's name in the ledger."""
        return f"{self.solver}/{self.task}/{self.attempt}"


class BudgetTerms(Record):
    """What each attempt may use of its model; None is no limit. ``usd`` is exact dollars, held by the ``prices``."""

    requests: Count | None = None
    tokens: Count | None = None
    usd: str | None = None
    prices: Digest | None = None


class SelectorKind(StrEnum):
    """Who picks one attempt of several."""

    ORACLE = "oracle"
    """The hidden grading itself: no selection at all, so it is told as pass@N."""
    VISIBLE_TESTS = "visible-tests"
    """The tests that a solver sees too (:mod:`harness.selecting`)."""


class BestOf(Record):
    """Attempts at a task in groups of ``rollouts``, by their numbers, of each of which ``selector`` picks one."""

    rollouts: Annotated[int, Field(ge=2)]
    selector: SelectorKind


class JudgeKind(StrEnum):
    """What answered as a judge."""

    MODEL = "model"
    REPLAY = "replay"
    """Answers that were given earlier; they never make a publishable figure."""
    STUB = "stub"
    """Made-up answers, for tests."""


class Judge(Record):
    """One member of a panel: the model, and the lab that made it (``unknown`` is nobody's friend)."""

    model: str
    lab: str
    effort: str = "unknown"


class Judging(Record):
    """How C is judged, as fixed before the run: the protocol, rubric and exam by digest, and who the judges are."""

    protocol: Digest
    rubric: Digest | None = None
    exam: Digest | None = None
    kind: JudgeKind
    panel: tuple[Judge, ...]


class Plan(Grown):
    """Everything that is fixed before the first dispatch; its digest is the plan id.

    ``attempts`` counts every attempt of a solver at a task, those of a group that is selected from included.
    """

    later = frozenset({"budget", "best_of", "judging"})

    schema_version: int = 1
    suite: SuiteRef
    partial: bool
    """Whether tasks of the suite were left out."""
    tasks: tuple[TaskRef, ...]
    solvers: tuple[SolverRef, ...]
    attempts: Annotated[int, Field(ge=1)]
    mode: RunMode
    provider: str
    formula: Digest
    images: tuple[ImageRef, ...]
    budget: BudgetTerms | None = None
    best_of: BestOf | None = None
    judging: Judging | None = None
    """None where nobody judges."""

    @property
    def id(self) -> str:
        """The plan id."""
        return _digest.digest(to_value(self))

    def cells(self) -> tuple[Cell, ...]:
        """The planned cells, in the order they are dispatched."""
        return tuple(
            Cell(solver=solver.name, task=task.task, attempt=n)
            for n in range(1, self.attempts + 1)
            for task in self.tasks
            for solver in self.solvers
        )
