"""What each stage of an attempt leaves: one record a stage, in order, with its bytes in the store.

Everything after an attempt (audit, score, report) is a function of these records and the blobs they name.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.digest import Digest
from harness.energy.records import EnergyRecord
from harness.engine.cgroup import ResourceUse
from harness.engine.seal import SealFacts
from harness.extract import Rung
from harness.gateway.records import AttemptTraffic, Bucket
from harness.outcomes import Ending, Outcome, Rejection
from harness.records import BlobRef, Cell, Count, Coverage, ExecutionMode, Grown, Limits, Microseconds, Record, TaskRef
from harness.scan.records import ScanRecord
from harness.suites.groups import GroupKind, OracleKind, Trust


class ChangeKind(StrEnum):
    """What happened to one path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


class Change(Record):
    """One path that differs from the harness's own base.

    ``path`` is relative UTF-8. ``mode`` is 0o644, 0o755 or 0o120000 (a link, whose content is its target), and None
    with ``content`` for a deletion.
    """

    path: str
    kind: ChangeKind
    mode: int | None
    content: BlobRef | None


class ChangeManifest(Record):
    """A change as data: sorted by path bytes. Its digest is the patch digest that reproduces."""

    base: Digest
    """Tree digest of the base it is against."""
    changes: tuple[Change, ...]


class SeedRecord(Record):
    """What the solver was given: the seed archive (tree and one synthetic commit) and the base's tree digest."""

    archive: BlobRef
    base: Digest


class GroupVerdict(Record):
    """One group's verdict. ``passed`` only if every check of it passed. ``detail`` is one line for a reader."""

    name: str
    kind: GroupKind
    oracle: OracleKind
    trust: Trust
    passed: bool
    checks: Count
    checks_passed: Count
    detail: str = ""


class GradeRecord(Record):
    """A change graded in a fresh container.

    ``verdicts`` is empty when the change was rejected. ``observations`` holds what came out of the container, for audit
    and replay; expected values are not in it.
    """

    verdicts: tuple[GroupVerdict, ...]
    rejection: Rejection | None = None
    rejection_detail: str = ""
    flags: tuple[str, ...] = ()
    """What was neutralised without a penalty, by name."""
    observations: BlobRef | None = None
    graded_tree: Digest | None = None
    """Digest of the tree as it lay in the grader."""
    nonce: str
    """Stamped into the hidden material of this grading, and made for it: seen elsewhere, it proves access."""
    seal: SealFacts | None = None
    use: ResourceUse
    wall_us: Microseconds


class SelfReported(Record):
    """What an agent says of its own use, and nothing but that: it is in no figure of ours.

    ``tokens`` has the buckets that the agent sets apart, ``usd`` is in decimal dollars; ``reason`` says what there is
    not, or what there is to know.
    """

    tokens: dict[Bucket, Count]
    usd: Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]+)?$")] | None
    reason: str = ""


class SolveRecord(Grown):
    """The solver's run: what it was asked, how it ended, what it used."""

    later = frozenset({"self_reported"})

    argv: tuple[str, ...]
    ending: Ending
    exit_status: int | None
    stdout: BlobRef
    stderr: BlobRef
    output_dropped: Count
    started_us: Microseconds
    wall_us: Microseconds
    seal: SealFacts
    use: ResourceUse
    energy: EnergyRecord
    transcript: BlobRef | None = None
    self_reported: SelfReported | None = None
    """None for a solver that keeps no log that we read."""


class CaptureRecord(Record):
    """What the solver left, as a checked stream, and the change that its answer makes.

    ``manifest`` and ``patch`` are None when the tree was rejected, when there was no answer, and when its diff did not
    apply. The counts are of the workspace.
    """

    manifest: BlobRef | None
    patch: BlobRef | None
    rejection: Rejection | None = None
    rejection_detail: str = ""
    entries: Count
    counted: Count
    """The independent count of the same tree; equal to ``entries`` unless the tree was rejected half way."""
    bytes: Count
    dropped: tuple[str, ...] = ()
    """Build by-products left behind, by name and count."""
    workspace: BlobRef | None = None
    """The whole tree as a tar of our own making, where it was asked for."""
    flags: tuple[str, ...] = ()
    rung: Rung | None = None
    """Where the answer was found; None where the format takes the workspace as it is, and where there was none."""


class SelectingRecord(Record):
    """What a selector may know of an attempt: its answer under the tests that a solver sees, and its size.

    ``tests`` is 0 with a ``reason`` where the task has none, or where they could not be run on this answer.
    """

    files: tuple[str, ...]
    """The visible test files that were asked for; none where the task has none."""
    tests: Count
    passed: Count
    size: Count
    """Bytes of the lines that the change adds and takes away."""
    reason: str = ""
    observations: BlobRef | None = None
    """What came out of the container."""
    seal: SealFacts | None = None
    use: ResourceUse
    wall_us: Microseconds


class TraceRecord(Record):
    """One trace channel of an attempt: its coverage and, if any was seen, its hash-chained lines."""

    channel: str
    coverage: Coverage
    reason: str
    lines: BlobRef | None = None


class AttemptRecord(Grown):
    """One try of one planned cell, whole. Its blob's digest is what the ledger keeps."""

    later = frozenset({"traffic", "selecting"})

    schema_version: int = 1
    plan: Digest
    cell: Cell
    attempt_try: Count
    """Which try of this cell, from 1; earlier tries were interrupted or failed for reasons outside the solver."""
    task: TaskRef
    mode: ExecutionMode
    limits: Limits
    cpuset: str
    concurrency: Count
    outcome: Outcome
    kind: str
    """The table's kind (``wall``, ``budget``, ``oom``), the name of the gate that failed, of the rejection, or of the
    provider's fault."""
    reason: str
    """One line for a reader; empty when there is nothing to add."""
    seed: SeedRecord | None = None
    baseline: GradeRecord | None = None
    solve: SolveRecord | None = None
    capture: CaptureRecord | None = None
    grade: GradeRecord | None = None
    scan: ScanRecord | None = None
    traces: tuple[TraceRecord, ...] = ()
    traffic: AttemptTraffic | None = None
    """The web trace in short; None for a solver that needs no model, and where it never ran."""
    selecting: SelectingRecord | None = None
    """None where nothing is to be selected by it, and where there was no answer."""
