"""One attempt, as the short list of its stages.

Seed, check the baseline, bracket energy around the solver alone, kill everything of the solver's, capture from what
outlives it, grade elsewhere, scan. Each stage takes records and gives records; what it saw goes to the store.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.ahead import Ahead
from harness.baseline import base_fault, graded_base
from harness.capture import Stopped, capture, read_workspace
from harness.digest import digest
from harness.errors import EngineGone, InfraError, StorageError
from harness.evidence import AttemptRecord, GradeRecord, SeedRecord
from harness.faults import End, ending_of, remarks
from harness.grade import GradingRoom, grade
from harness.job import Job, Planned, Tools
from harness.outcomes import Ending, Outcome, graded, rule
from harness.seed import make_seed
from harness.selecting import look
from harness.solve import solve
from harness.suites.groups import GroupKind
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.traffic import Traffic
from harness.trail import Ended, Trail
from harness.workspace import Workspace

__all__ = ["Job", "Planned", "Tools", "not_dispatched", "recorded", "run_attempt"]

Stages = Callable[[str, Trail], tuple[Ending, Outcome, str, str]]
"""Given the cores and a trail to leave records on: how it ended, the outcome, its kind, and a reason."""


def run_attempt(job: Job, tools: Tools) -> AttemptRecord:
    """Run one try of one cell, to its record. Raises as :func:`recorded`."""
    return recorded(job, tools, lambda cpuset, trail: _stages(job, tools, cpuset, trail))


def not_dispatched(job: Planned, reason: str) -> AttemptRecord:
    """The record of a try that was not begun, since its solver can't reach its model."""
    row = rule(Ending.NOT_AVAILABLE)
    return AttemptRecord(
        plan=job.plan,
        cell=job.cell,
        attempt_try=job.attempt_try,
        task=job.ref,
        mode=job.mode,
        limits=job.task.limits,
        cpuset="",
        concurrency=job.concurrency,
        outcome=row.outcome or Outcome.UNAVAILABLE,
        kind=row.kind,
        reason=reason,
    )


def recorded(job: Planned, tools: Tools, stages: Stages) -> AttemptRecord:
    """Run the stages of one try, and put what they left, however they ended, into its record.

    Raises:
        EngineGone, StorageError: the run can't go on; the cell stays open and a resumed run tries it again.
        GateError: a container is not sealed, or the host has too few cores.
    """
    trail = Trail()
    with tools.cores.pinned(job.task.limits.cpus) as cpuset:
        try:
            ending, outcome, kind, reason = stages(cpuset, trail)
        except Ended as end:
            ending, outcome, kind, reason = end.ending, None, end.kind, end.reason
        except (EngineGone, StorageError):
            raise
        except InfraError as error:
            ending, outcome, kind, reason = Ending.HOST_FAULT, None, "", str(error)
    row = rule(ending)
    return AttemptRecord(
        plan=job.plan,
        cell=job.cell,
        attempt_try=job.attempt_try,
        task=job.ref,
        mode=job.mode,
        limits=job.task.limits,
        cpuset=cpuset,
        concurrency=job.concurrency,
        outcome=row.outcome or outcome or Outcome.FAILED,
        kind=kind or row.kind,
        reason=reason,
        seed=trail.seed,
        baseline=trail.baseline,
        solve=trail.solve,
        capture=trail.capture,
        grade=trail.grade,
        scan=trail.scan,
        traces=trail.traces,
        traffic=trail.traffic,
        selecting=trail.selecting,
    )


def _stages(job: Job, tools: Tools, cpuset: str, trail: Trail) -> tuple[Ending, Outcome, str, str]:
    trail.seed = _seed(job, tools)
    check_base(job, tools, cpuset, trail)
    with grading_room(job, tools, cpuset) as room:
        with Workspace(tools.engine, tools.base.handle, job.task.limits, tools.owner) as workspace:
            seen = solve(job, tools, cpuset, workspace, trail)
            room.start()  # beside the capture, and after the energy bracket
            left = read_workspace(workspace)
        assert trail.solve is not None
        end = ending_of(trail.solve.ending, seen.traffic, reached_before=job.reached_before)
        reply = tools.store.get(trail.solve.stdout.digest) if job.solver.manifest.replies else b""
        found = capture(job.task, reply, left, tools.store, tools, keep_workspace=tools.keep_workspaces)
        trail.capture = found.record
        if _declined(end, seen.traffic, found.tree, job.task):
            raise Ended(Ending.SOLVER_REFUSED, reason="the provider says that the model declined; nothing was changed")
        tree = _to_be_graded(found.tree, end)
        if job.selecting:
            with grading_room(job, tools, cpuset) as apart:
                trail.selecting = look(apart, tools.store, job.task, tree)
        outcome = grade_and_scan(job, tools, room, tree, trail)
    said = remarks(trail.solve.ending, trail.solve.exit_status, seen.left_running, seen.traffic)
    return end.ending, outcome, "", end.reason or said


def grade_and_scan(job: Planned, tools: Tools, room: Ahead[GradingRoom], tree: Tree, trail: Trail) -> Outcome:
    """The last stages: what the groups say of the tree, and what the scanner says of its change.

    Raises:
        Ended: the change is rejected.
        InfraError: the engine failed.
    """
    trail.grade = grade(room, tools.store, job.task, tree)
    if trail.grade.rejection is not None:
        raise Ended(Ending.CHANGE_REJECTED, trail.grade.rejection.value, trail.grade.rejection_detail)
    if tools.scanner is not None:
        trail.scan = tools.scanner.scan(job.task.before, tree)
    return _outcome(trail.grade)


def _to_be_graded(found: Tree | Stopped, end: End) -> Tree:
    """The answer's tree. A rejection outweighs how the solver ended; that outweighs a missing or failing answer."""
    row = rule(end.ending)
    if isinstance(found, Stopped):
        if row.outcome is None or found.ending is Ending.CHANGE_REJECTED:
            raise Ended(found.ending, found.kind or row.kind, found.reason)
        raise Ended(end.ending, end.kind, end.reason or found.reason)
    if not row.graded:
        raise Ended(end.ending, end.kind, end.reason)
    return found


def _declined(end: End, traffic: Traffic | None, found: Tree | Stopped, task: Task) -> bool:
    """Whether a model declined the task: it said so last, and there is no answer of it."""
    if end.ending is not Ending.COMPLETED or traffic is None or not traffic.declined:
        return False
    nothing = found.ending is Ending.NOTHING_EXTRACTED if isinstance(found, Stopped) else found.digest
    return nothing is True or nothing == task.before.digest


def _seed(job: Job, tools: Tools) -> SeedRecord:
    base = (tools.base.ref.id, tools.base.handle)
    return make_seed(tools.engine, base, job.task.before, job.task.limits, tools.store, tools.cache, tools.owner)


def grading_room(job: Planned, tools: Tools, cpuset: str) -> Ahead[GradingRoom]:
    """A grading room, not yet begun."""
    image = tools.images[job.task.image].handle
    return Ahead(lambda: GradingRoom(tools.engine, image, job.task, cpuset, tools.owner))


def check_base(job: Planned, tools: Tools, cpuset: str, trail: Trail) -> None:
    """The stage before any work: the task's unmodified base must fail as a base does.

    Raises:
        Ended: it does not; the task itself is at fault.
        InfraError: the engine failed.
    """
    key = digest([job.ref.score_hash, tools.images[job.task.image].ref.id])
    with grading_room(job, tools, cpuset) as room:
        trail.baseline = graded_base(job.task, key, room, tools.store, tools.cache)
    fault = base_fault(trail.baseline)
    if fault:
        raise Ended(Ending.BASELINE_PASSES, reason=f"the unmodified base is not as a base must be: {fault}")


def _outcome(record: GradeRecord) -> Outcome:
    return graded(
        [one.passed for one in record.verdicts if one.kind is GroupKind.BEHAVIOUR],
        [one.passed for one in record.verdicts if one.kind is GroupKind.REGRESSION],
    )
