"""The stage in which a solver runs: a sealed container, its hooks, and the energy bracket around the driver alone."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass

from harness.ahead import Ahead
from harness.engine.cgroup import ResourceUse
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec
from harness.errors import GO_ON, InfraError
from harness.evidence import SolveRecord
from harness.hooks import Hook, closed_door, disarmed, unwatched
from harness.job import Job, Tools
from harness.outcomes import Ending
from harness.solvers import AgentAccess, SolveContext, Solved
from harness.solvers.choose import driver_of
from harness.solvers.cli import home_files
from harness.solvers.manifest import BUNDLE, Solver
from harness.solvers.transcripts import with_transcript
from harness.suites.tree import REGULAR, Entry, Tree
from harness.traffic import Traffic, read_trace
from harness.trail import Trail
from harness.workspace import HOME, PROMPT_FILE, Workspace, join_archives, pack

OUTPUT_TYPE = "application/octet-stream"
UNKNOWN = "unknown"
"""An effort that nobody asked for."""


@dataclass(frozen=True)
class Seen:
    """What is known of a solver's run beside its record."""

    traffic: Traffic | None
    left_running: int | None


def solve(job: Job, tools: Tools, cpuset: str, workspace: Workspace, trail: Trail) -> Seen:
    """Seed the workspace beside the start of the solver's container, then run the solver in it and kill it.

    What the hooks saw is on the trail also when the run broke off: what was spent by then was spent.
    """
    assert trail.seed is not None
    hooks = tools.hooks(job.cell)
    try:
        access = _access(job.solver, hooks)
        spec = _solver_spec(job, tools, cpuset, workspace, hooks)
        with Ahead(lambda: Sandbox(tools.engine, spec, tools.owner)) as coming:
            coming.start()
            workspace.seed(_seed(job, tools.store.get(trail.seed.archive.digest), access))
            sandbox = coming.take()
            for hook in hooks:
                hook.before_solve(sandbox)
            before = sandbox.processes()
            trail.solve = _bracketed(job, tools, sandbox, hooks, access)
            after = sandbox.processes(expected=before)
    finally:
        traces = disarmed(hooks)
        trail.traces = (*traces, *unwatched(traces))
        closed = closed_door(hooks)
        trail.traffic = closed.traffic if closed else None
    trail.solve = with_transcript(trail.solve, job.solver.manifest.transcript, workspace, tools.store)
    seen = Traffic(closed.traffic, read_trace(tools.store, closed.trace)) if closed else None
    return Seen(seen, None if before is None or after is None else max(0, after - before))


def _solver_spec(job: Job, tools: Tools, cpuset: str, workspace: Workspace, hooks: Sequence[Hook]) -> SandboxSpec:
    limits = job.task.limits
    bundle = job.solver.bundle
    return SandboxSpec(
        role=Role.SOLVER,
        image=tools.images[job.task.solver_image].handle,
        volumes=(
            *workspace.mounts_at(job.task.workspace),
            *(volume for hook in hooks for volume in hook.volumes),
        ),
        workdir=job.task.workspace,
        binds=(
            *((BindMount(source=str(bundle), target=BUNDLE),) if bundle else ()),
            *(bind for hook in hooks for bind in hook.binds),
        ),
        tmp_mb=limits.tmp_mb,
        memory_mb=limits.memory_mb,
        pids=limits.pids,
        cpuset=cpuset,
    )


def _bracketed(
    job: Job, tools: Tools, sandbox: Sandbox, hooks: Sequence[Hook], access: AgentAccess | None
) -> SolveRecord:
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
        access=access,
    )
    drive = driver_of(job.solver)
    started_us = time.time_ns() // 1000
    began = time.monotonic_ns()
    scripted = job.solver.manifest.driver.scripted or job.rehearsed
    with tools.energy.bracket(scripted=scripted, cpu_us=lambda: sandbox.usage().cpu_us) as bracket:
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


def _access(solver: Solver, hooks: Sequence[Hook]) -> AgentAccess | None:
    """How the solver reaches its model; None for one that needs none."""
    manifest = solver.manifest
    if not manifest.driver.asks_model:
        return None
    from harness.gateway.hook import BASE_URL, GatewayHook  # the gateway's packages are slow to load

    token = next((hook.token for hook in hooks if isinstance(hook, GatewayHook)), None)
    if token is None:
        raise InfraError(f"solver {manifest.name}", "asks a model, and this run has no gateway", GO_ON)
    effort = None if manifest.effort == UNKNOWN else manifest.effort
    return AgentAccess(base_url=BASE_URL, token=token, model=manifest.model, effort=effort)


def _seed(job: Job, archive: bytes, access: AgentAccess | None) -> bytes:
    """The seed archive with the prompt file and the solver's own files added to it."""
    note = Tree([Entry("prompt.md", REGULAR, job.task.prompt.encode())])
    mine = Tree() if access is None else home_files(job.solver.manifest, access, job.task.workspace, PROMPT_FILE)
    return join_archives(archive, pack(mine.overlay(note), prefix=HOME.lstrip("/") + "/"))
