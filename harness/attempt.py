"""One attempt, as the short list of its stages.

Seed, check the baseline, bracket energy around the solver alone, kill everything of the solver's, capture from what
outlives it, grade elsewhere, scan. Each stage takes records and gives records; what it saw goes to the store.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.ahead import Ahead
from harness.change import MANIFEST_TYPE, PATCH_TYPE, compare, render
from harness.cores import Cores
from harness.digest import digest
from harness.energy import Session
from harness.engine.cgroup import ResourceUse
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec
from harness.errors import EngineGone, InfraError, StorageError
from harness.evidence import (
    AttemptRecord,
    CaptureRecord,
    GradeRecord,
    SeedRecord,
    SolveRecord,
    TraceRecord,
)
from harness.grade import GradingRoom, grade
from harness.hooks import Hook, no_hooks, unwatched
from harness.ledger import CacheKind, Ledger
from harness.outcomes import Ending, Outcome, graded, rule
from harness.records import Cell, ExecutionMode, TaskRef, from_json, to_json
from harness.scan import Scanner
from harness.scan.records import ScanRecord
from harness.seed import make_seed
from harness.solvers import SolveContext, Solved
from harness.solvers.choose import driver_of
from harness.solvers.manifest import BUNDLE, Solver
from harness.store import Store, is_whole
from harness.suites.groups import GroupKind
from harness.suites.task import Task
from harness.suites.tree import REGULAR, Entry, Tree
from harness.untrusted import Refused
from harness.workspace import HOME, PROMPT_FILE, Workspace, join_archives, pack

GRADE_TYPE = "application/vnd.trialbox.grade+json"
OUTPUT_TYPE = "application/octet-stream"
_DROPPED_NAMES = 100
TREE_TYPE = "application/x-tar"


@dataclass(frozen=True)
class Tools:
    """What every attempt of a run shares. Safe to use from many threads."""

    engine: Engine
    store: Store
    cache: Ledger
    images: Mapping[str, BuiltImage]
    energy: Session
    cores: Cores
    owner: str
    scanner: Scanner | None = None
    keep_workspaces: bool = False
    hooks: Callable[[Cell], Sequence[Hook]] = no_hooks

    @property
    def base(self) -> BuiltImage:
        """Our own base image, for keepers and the starting commit."""
        return self.images["base"]


@dataclass(frozen=True)
class Job:
    """One try of one planned cell."""

    plan: str
    cell: Cell
    attempt_try: int
    task: Task
    ref: TaskRef
    solver: Solver
    mode: ExecutionMode
    concurrency: int


class _Ended(Exception):
    def __init__(self, ending: Ending, kind: str = "", reason: str = "") -> None:
        self.ending = ending
        self.kind = kind
        self.reason = reason
        super().__init__(reason)


@dataclass
class _Trail:
    """What the stages left so far; whatever ends the attempt, this much is evidence."""

    seed: SeedRecord | None = None
    baseline: GradeRecord | None = None
    solve: SolveRecord | None = None
    capture: CaptureRecord | None = None
    grade: GradeRecord | None = None
    scan: ScanRecord | None = None
    traces: tuple[TraceRecord, ...] = ()


def run_attempt(job: Job, tools: Tools) -> AttemptRecord:
    """Run one try of one cell, to its record.

    Raises:
        EngineGone, StorageError: the run can't go on; the cell stays open and a resumed run tries it again.
        GateError: a container is not sealed, or the host has too few cores.
    """
    trail = _Trail()
    with tools.cores.pinned(job.task.limits.cpus) as cpuset:
        try:
            ending, outcome, kind, reason = _stages(job, tools, cpuset, trail)
        except _Ended as end:
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
    )


def _stages(job: Job, tools: Tools, cpuset: str, trail: _Trail) -> tuple[Ending, Outcome, str, str]:
    trail.seed = _seed(job, tools)
    trail.baseline = _baseline(job, tools, cpuset)
    _refuse_passing_base(trail.baseline)
    with _room(job, tools, cpuset) as room:
        with Workspace(tools.engine, tools.base.handle, job.task.limits, tools.owner) as workspace:
            trail.solve, trail.traces = _solve(job, tools, cpuset, workspace, trail.seed)
            room.start()  # beside the capture, and after the energy bracket
            tree, trail.capture = _capture(job.task, tools, workspace)
        if tree is None:
            rejection = trail.capture.rejection
            raise _Ended(Ending.CHANGE_REJECTED, rejection.value if rejection else "", trail.capture.rejection_detail)
        if not rule(trail.solve.ending).graded:
            raise _Ended(trail.solve.ending)
        trail.grade = grade(room, tools.store, job.task, tree)
    if trail.grade.rejection is not None:
        raise _Ended(Ending.CHANGE_REJECTED, trail.grade.rejection.value, trail.grade.rejection_detail)
    if tools.scanner is not None:
        trail.scan = tools.scanner.scan(job.task.before, tree)
    return trail.solve.ending, _outcome(trail.grade), "", ""


def _seed(job: Job, tools: Tools) -> SeedRecord:
    base = (tools.base.ref.id, tools.base.handle)
    return make_seed(tools.engine, base, job.task.before, job.task.limits, tools.store, tools.cache, tools.owner)


def _with_prompt(archive: bytes, prompt: str) -> bytes:
    """The seed archive with the prompt file added to it."""
    note = pack(Tree([Entry("prompt.md", REGULAR, prompt.encode())]), prefix=HOME.lstrip("/") + "/")
    return join_archives(archive, note)


def _room(job: Job, tools: Tools, cpuset: str) -> Ahead[GradingRoom]:
    """A grading room, not yet begun."""
    image = tools.images[job.task.image].handle
    return Ahead(lambda: GradingRoom(tools.engine, image, job.task, cpuset, tools.owner))


def _baseline(job: Job, tools: Tools, cpuset: str) -> GradeRecord:
    """The unmodified base, graded once for each task and image."""
    key = digest([job.ref.score_hash, tools.images[job.task.image].ref.id])
    known = tools.cache.cached(CacheKind.BASELINE, key)
    if known is not None and is_whole(tools.store, known.digest):
        return from_json(GradeRecord, tools.store.get(known.digest))
    with _room(job, tools, cpuset) as room:
        record = grade(room, tools.store, job.task, job.task.before)
        if not room.take().sandbox.alive():
            raise InfraError("baseline", "its container was ended from outside", "run the attempt again")
    tools.cache.keep(CacheKind.BASELINE, key, tools.store.put(to_json(record), GRADE_TYPE))
    return record


def _refuse_passing_base(record: GradeRecord) -> None:
    """Every behaviour group must fail on the base, and every other group pass: else the task is at fault."""
    wrong = [
        f"{one.kind.value} group {one.name} {'passes' if one.passed else 'fails'}"
        for one in record.verdicts
        if one.passed is (one.kind is GroupKind.BEHAVIOUR)
    ]
    if record.rejection is not None or wrong or not record.verdicts:
        problem = record.rejection.value if record.rejection else ", ".join(wrong) or "no group was graded"
        raise _Ended(Ending.BASELINE_PASSES, reason=f"the unmodified base is not as a base must be: {problem}")


def _solve(
    job: Job, tools: Tools, cpuset: str, workspace: Workspace, seed: SeedRecord
) -> tuple[SolveRecord, tuple[TraceRecord, ...]]:
    """Seed the workspace beside the start of the solver's container, then run the solver in it and kill it."""
    hooks = tools.hooks(job.cell)
    spec = _solver_spec(job, tools, cpuset, workspace, hooks)
    with Ahead(lambda: Sandbox(tools.engine, spec, tools.owner)) as coming:
        coming.start()
        workspace.seed(_with_prompt(tools.store.get(seed.archive.digest), job.task.prompt))
        sandbox = coming.take()
        for hook in hooks:
            hook.before_solve(sandbox)
        record = _bracketed(job, tools, sandbox, hooks)
    traces = tuple(hook.after_solve() for hook in hooks)
    return record, (*traces, *unwatched(traces))


def _solver_spec(job: Job, tools: Tools, cpuset: str, workspace: Workspace, hooks: Sequence[Hook]) -> SandboxSpec:
    limits = job.task.limits
    bundle = job.solver.bundle
    return SandboxSpec(
        role=Role.SOLVER,
        image=tools.images[job.task.image].handle,
        volumes=workspace.mounts,
        binds=(
            *((BindMount(source=str(bundle), target=BUNDLE),) if bundle else ()),
            *(bind for hook in hooks for bind in hook.binds),
        ),
        tmp_mb=limits.tmp_mb,
        memory_mb=limits.memory_mb,
        pids=limits.pids,
        cpuset=cpuset,
    )


def _bracketed(job: Job, tools: Tools, sandbox: Sandbox, hooks: Sequence[Hook]) -> SolveRecord:
    """The solver's run, with energy bracketed around it and nothing else."""
    limits = job.task.limits
    env = {"HOME": HOME, "LANG": "C.UTF-8", "TZ": "UTC", "PROMPT_FILE": PROMPT_FILE, **job.solver.manifest.env}
    for hook in hooks:
        env |= hook.env
    context = SolveContext(
        sandbox=sandbox,
        task=job.task,
        prompt_file=PROMPT_FILE,
        timeout_s=limits.wall_s,
        max_output=limits.output_kb << 10,
        env=env,
    )
    drive = driver_of(job.solver)
    started_us = time.time_ns() // 1000
    began = time.monotonic_ns()
    with tools.energy.bracket(scripted=job.solver.manifest.driver.scripted) as bracket:
        solved = drive(context)
    wall_us = (time.monotonic_ns() - began) // 1000
    use = sandbox.usage()
    measured = bracket.stop()
    tools.store.put(measured.readings, measured.record.readings.media_type)
    return SolveRecord(
        argv=solved.argv,
        ending=_ending(solved, use),
        exit_status=solved.exit_status,
        stdout=tools.store.put(solved.stdout, OUTPUT_TYPE),
        stderr=tools.store.put(solved.stderr, OUTPUT_TYPE),
        output_dropped=solved.dropped,
        started_us=started_us,
        wall_us=wall_us,
        seal=sandbox.seal,
        use=use,
        energy=measured.record,
        transcript=tools.store.put(solved.transcript, OUTPUT_TYPE) if solved.transcript is not None else None,
    )


def _ending(solved: Solved, use: ResourceUse) -> Ending:
    """A solver that was killed while its container ran out of memory ended by that, not by itself."""
    killed = solved.ending is Ending.COMPLETED and solved.exit_status in {None, 128 + signal.SIGKILL}
    if killed and use.oom_kills:
        return Ending.OUT_OF_MEMORY
    return solved.ending


def _capture(task: Task, tools: Tools, workspace: Workspace) -> tuple[Tree | None, CaptureRecord]:
    """The tree that the solver left and its change; no tree, and the reason, if it is refused."""
    store = tools.store
    try:
        captured = workspace.read()
        manifest = compare(task.before, captured.tree, store)
    except Refused as refused:
        return None, CaptureRecord(
            manifest=None,
            patch=None,
            rejection=refused.reason,
            rejection_detail=refused.detail,
            entries=0,
            counted=0,
            bytes=0,
        )
    return captured.tree, CaptureRecord(
        manifest=store.put(to_json(manifest), MANIFEST_TYPE),
        patch=store.put(render(task.before, captured.tree, manifest), PATCH_TYPE),
        entries=captured.entries,
        counted=captured.entries,
        bytes=captured.bytes,
        dropped=tuple(f"{name} x{count}" for name, count in sorted(captured.dropped.most_common(_DROPPED_NAMES))),
        workspace=store.put(pack(captured.tree), TREE_TYPE) if tools.keep_workspaces else None,
    )


def _outcome(record: GradeRecord) -> Outcome:
    return graded(
        [one.passed for one in record.verdicts if one.kind is GroupKind.BEHAVIOUR],
        [one.passed for one in record.verdicts if one.kind is GroupKind.REGRESSION],
    )
