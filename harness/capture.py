"""From the tree that a solver left, and what it printed, to the change that is graded, with its record."""

from __future__ import annotations

from dataclasses import dataclass

from harness.change import MANIFEST_TYPE, PATCH_TYPE, compare, render
from harness.evidence import CaptureRecord
from harness.extract import Rung
from harness.outcomes import Ending
from harness.records import to_json
from harness.replies import Answer, Bench, GateFailure, NoAnswer, applier, find_answer, gate_failure
from harness.store import Store
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.untrusted import CapturedTree, Refused
from harness.workspace import Workspace, pack

TREE_TYPE = "application/x-tar"
_DROPPED_NAMES = 100


@dataclass(frozen=True)
class Stopped:
    """Why there is nothing to grade."""

    ending: Ending
    kind: str
    reason: str


@dataclass(frozen=True)
class Captured:
    """The answer's tree and the record, or, in place of the tree, why there is none."""

    tree: Tree | Stopped
    record: CaptureRecord


def read_workspace(workspace: Workspace) -> CapturedTree | Refused:
    """What the solver left, or the named reason why it is refused.

    Raises:
        InfraError: it could not be read whole.
    """
    try:
        return workspace.read()
    except Refused as refused:
        return refused


def capture(
    task: Task, reply: bytes, left: CapturedTree | Refused, store: Store, bench: Bench, *, keep_workspace: bool = False
) -> Captured:
    """Find the answer, compare it with ``before`` and put it through the gates.

    Raises:
        InfraError: the engine or the store failed.
    """
    if isinstance(left, Refused):
        return _refused(left, CaptureRecord(manifest=None, patch=None, entries=0, counted=0, bytes=0))
    record = CaptureRecord(
        manifest=None,
        patch=None,
        entries=left.entries,
        counted=left.entries,
        bytes=left.bytes,
        dropped=tuple(f"{name} x{count}" for name, count in sorted(left.dropped.most_common(_DROPPED_NAMES))),
        workspace=store.put(pack(left.tree), TREE_TYPE) if keep_workspace else None,
    )
    try:
        found = find_answer(task, reply, left.tree, applier(task, bench))
        match found:
            case NoAnswer():
                return Captured(Stopped(Ending.NOTHING_EXTRACTED, "", found.reason), record)
            case GateFailure():
                return Captured(_stopped(found), record.model_copy(update={"rung": found.rung}))
            case Answer():
                record = _compared(task, found.tree, found.rung, record, store)
    except Refused as refused:
        return _refused(refused, record)
    failed = gate_failure(task, found.tree, bench)
    return Captured(found.tree if failed is None else _stopped(failed), record)


def _compared(task: Task, tree: Tree, rung: Rung | None, record: CaptureRecord, store: Store) -> CaptureRecord:
    manifest = compare(task.before, tree, store)
    return record.model_copy(
        update={
            "rung": rung,
            "manifest": store.put(to_json(manifest), MANIFEST_TYPE),
            "patch": store.put(render(task.before, tree, manifest), PATCH_TYPE),
        }
    )


def _refused(refused: Refused, record: CaptureRecord) -> Captured:
    told = {"rejection": refused.reason, "rejection_detail": refused.detail}
    stopped = Stopped(Ending.CHANGE_REJECTED, refused.reason.value, refused.detail)
    return Captured(stopped, record.model_copy(update=told))


def _stopped(failed: GateFailure) -> Stopped:
    return Stopped(Ending.GATE_FAILED, failed.gate.value, failed.detail)
