"""All attempts of a run: in planned order, several at once, each to exactly one terminal state.

An attempt waits on its solver almost all the time, so threads are enough for hundreds of them. What can't go on (the
engine is away, the disk is full, a container is not sealed) stops the sweep: attempts under way end or are abandoned,
their cells stay open, and a resumed run tries them again. The daily cap stops it too, but only between attempts.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from harness.attempt import Job, Tools, not_dispatched, run_attempt
from harness.dispatch import Dispatch
from harness.engine.owned import reap
from harness.errors import GateError, InfraError, TrialboxError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.outcomes import MAX_TRIES, may_retry
from harness.progress import Finished, Progress
from harness.records import Cell, ExecutionMode, Plan, RunMode, TaskRef, to_json
from harness.selecting import by_visible_tests
from harness.solvers.manifest import Solver
from harness.spend_book import CapReached, Spent
from harness.suites.task import Task

ATTEMPT_TYPE = "application/vnd.trialbox.attempt+json"


@dataclass(frozen=True)
class Sweep:
    """A planned run with all it needs to go."""

    run_id: str
    plan: Plan
    tasks: Mapping[str, Task]
    solvers: Sequence[Solver]
    mode: ExecutionMode
    tools: Tools
    ledger: Ledger
    progress: Progress
    dispatch: Dispatch = field(default_factory=Dispatch)


def run_sweep(sweep: Sweep, *, concurrency: int) -> None:
    """Run every pending cell.

    Raises:
        GateError: the daily cap was reached; what was under way has ended, the other cells stay pending.
        TrialboxError: the run can't go on; all cells that ended are kept, the others stay pending.
        KeyboardInterrupt: the user stopped it; the same holds.
    """
    pending = list(sweep.ledger.pending(sweep.run_id))
    planned = len(sweep.plan.cells())
    sweep.progress.planned(planned, planned - len(pending))
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="trialbox-attempt") as pool:
        futures: set[Future[None]] = {
            pool.submit(_cell, sweep, cell, min(concurrency, planned), stop) for cell in pending
        }
        try:
            while futures:
                done, futures = wait(futures, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        except BaseException:
            stop.set()
            _abandon(sweep, {future for future in futures if not future.cancel()})
            raise
    if (full := sweep.dispatch.capped) is not None:
        raise GateError(
            f"run {sweep.run_id}",
            f"stopped between attempts: daily cap {full.problem}",
            f"{full.remedy}; then `trialbox run --resume {sweep.run_id} --confirm-spend`",
        )


def _abandon(sweep: Sweep, futures: set[Future[None]]) -> None:
    """End the attempts under way by taking their containers from under them; their tries stay open in the ledger."""
    while futures:
        with contextlib.suppress(InfraError):  # the engine is away, or a container ended by itself: the next run reaps
            reap(sweep.tools.engine, sweep.tools.owner)
        _, futures = wait(futures, timeout=1.0)


def _cell(sweep: Sweep, cell: Cell, concurrency: int, stop: threading.Event) -> None:
    refs: Mapping[str, TaskRef] = {ref.task: ref for ref in sweep.plan.tasks}
    solver = next(one for one in sweep.solvers if one.name == cell.solver)
    failures = 0  # of this process: tries that a kill abandoned say nothing about the next one
    terminal = False
    while not terminal and not stop.is_set():
        sweep.dispatch.wait(cell.solver, failures, stop)
        gone = sweep.dispatch.gone(cell.solver)
        try:
            reservation = None if gone else sweep.dispatch.reserve(cell, f"{sweep.run_id} {cell.key}", stop)
        except CapReached:
            return
        attempt_try = sweep.ledger.start_try(sweep.run_id, cell)
        sweep.progress.started(cell, attempt_try)
        began = time.monotonic_ns()
        job = Job(
            plan=sweep.plan.id,
            cell=cell,
            attempt_try=attempt_try,
            task=sweep.tasks[cell.task],
            ref=refs[cell.task],
            solver=solver,
            mode=sweep.mode,
            concurrency=concurrency,
            reached_before=sweep.dispatch.reached(cell.solver),
            rehearsed=solver.manifest.driver.asks_model and sweep.plan.mode is RunMode.DRY,
            selecting=by_visible_tests(sweep.plan),
        )
        record = not_dispatched(job, gone) if gone else _attempt(job, sweep, reservation, stop)
        if record is None:
            return
        spent = sweep.dispatch.settle(reservation, record)
        sweep.dispatch.learn(record)
        blob = sweep.tools.store.put(to_json(record), ATTEMPT_TYPE)
        failures += may_retry(record.outcome)
        terminal = not may_retry(record.outcome) or failures >= MAX_TRIES
        sweep.ledger.finish(sweep.run_id, cell, attempt_try, record.outcome, blob, terminal=terminal)
        sweep.progress.finished(_finished(record, terminal, (time.monotonic_ns() - began) // 1000, spent))


def _attempt(job: Job, sweep: Sweep, reservation: int | None, stop: threading.Event) -> AttemptRecord | None:
    """The attempt's record; None if the sweep was stopped under it, which says nothing about the solver."""
    try:
        record = run_attempt(job, sweep.tools)
    except BaseException as error:
        sweep.dispatch.abandon(reservation)
        if isinstance(error, TrialboxError) and stop.is_set():
            return None
        raise
    if stop.is_set():
        sweep.dispatch.abandon(reservation)
        return None
    return record


def _finished(record: AttemptRecord, terminal: bool, wall_us: int, spent: Spent | None) -> Finished:
    energy = record.solve.energy if record.solve else None
    return Finished(
        cell=record.cell,
        attempt_try=record.attempt_try,
        outcome=record.outcome,
        terminal=terminal,
        energy_uj=energy.active_uj if energy else None,
        energy_reliable=energy.reliable if energy else False,
        wall_us=wall_us,
        reason=record.reason,
        spent=spent,
    )
