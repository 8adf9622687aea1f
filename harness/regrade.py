"""A patch made elsewhere, graded as an attempt's change is: applied strictly in a container, then by the same groups.

Nothing is known of how it came about, so there is no seed, no solve and no trace in its record: time, tokens and energy
are unknown, not zero.
"""

from __future__ import annotations

from harness.attempt import Planned, Tools, check_base, grade_and_scan, grading_room, recorded
from harness.change import MANIFEST_TYPE, PATCH_TYPE, compare, render
from harness.evidence import AttemptRecord, CaptureRecord
from harness.outcomes import Ending, Gate, Outcome
from harness.patching import PatchRefused
from harness.records import to_json
from harness.replies import applier, gate_failure
from harness.store import Store
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.trail import Ended, Trail
from harness.untrusted import Refused


def run_patch(job: Planned, patch: bytes | None, tools: Tools) -> AttemptRecord:
    """Grade *patch*, to a record; None says that there is none for this task, which ends the cell as unavailable.

    Raises:
        EngineGone, StorageError: nothing more can be graded.
        GateError: a container is not sealed.
    """
    return recorded(job, tools, lambda cpuset, trail: _stages(job, patch, tools, cpuset, trail))


def _stages(
    job: Planned, patch: bytes | None, tools: Tools, cpuset: str, trail: Trail
) -> tuple[Ending, Outcome, str, str]:
    if patch is None:
        raise Ended(Ending.NOT_AVAILABLE, "no_prediction", "no patch was made for this task")
    check_base(job, tools, cpuset, trail)
    if not patch.strip():
        raise Ended(Ending.NOTHING_EXTRACTED, "empty", "the patch is empty")
    with grading_room(job, tools, cpuset) as room:
        room.start()
        tree = _applied(job.task, patch, tools, trail)
        outcome = grade_and_scan(job, tools, room, tree, trail)
    return Ending.COMPLETED, outcome, "", ""


def _applied(task: Task, patch: bytes, tools: Tools, trail: Trail) -> Tree:
    """The tree that the patch makes. One that does not apply, or not to a tree of ours, is kept as it came."""
    unapplied = CaptureRecord(
        manifest=None, patch=tools.store.put(patch, PATCH_TYPE), entries=0, counted=0, bytes=len(patch)
    )
    try:
        tree = applier(task, tools)(patch)
        trail.capture = _captured(task, tree, tools.store)
    except PatchRefused as refused:
        trail.capture = unapplied
        raise Ended(Ending.GATE_FAILED, Gate.APPLY.value, refused.detail) from refused
    except Refused as refused:
        trail.capture = unapplied.model_copy(update={"rejection": refused.reason, "rejection_detail": refused.detail})
        raise Ended(Ending.CHANGE_REJECTED, refused.reason.value, refused.detail) from refused
    failed = gate_failure(task, tree, tools)
    if failed is not None:
        raise Ended(Ending.GATE_FAILED, failed.gate.value, failed.detail)
    return tree


def _captured(task: Task, tree: Tree, store: Store) -> CaptureRecord:
    manifest = compare(task.before, tree, store)
    return CaptureRecord(
        manifest=store.put(to_json(manifest), MANIFEST_TYPE),
        patch=store.put(render(task.before, tree, manifest), PATCH_TYPE),
        entries=len(tree),
        counted=len(tree),
        bytes=tree.size,
    )
