"""One run of ``suite check``: load, hold against the locks, examine in containers, keep the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from audits.decontamination import claim_faults
from harness.attempt import Tools
from harness.cores import Cores
from harness.energy import EnergyRequest, MeterChoice, open_session
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import InfraError, UserError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.preflight import preflight
from harness.progress import Progress
from harness.records import Coverage, ExecutionMode, RunMode, SuiteRef, TaskRef, from_json, to_json
from harness.references import WEB
from harness.state import State
from harness.store import LocalStore, Store
from harness.suites.admission import clock
from harness.suites.admission.bench import Bench
from harness.suites.admission.check import Subject, check_task, rules
from harness.suites.admission.frontier import DEFAULTS, ReferenceAttempt, References, frontier, reference_attempt
from harness.suites.admission.records import Admission, CheckRecord
from harness.suites.admission.remembered import Remembered
from harness.suites.admission.workers import Workers
from harness.suites.hashing import ScoreBasis, suite_ref, task_ref
from harness.suites.load import find_suites, load_suite
from harness.suites.lock import check_lock, read_lock
from harness.suites.parity_sweep import images_for
from harness.suites.task import Suite, Task
from harness.traffic import read_trace
from trialbox import places
from trialbox.opening import images_of, opened, prepared, score_basis
from trialbox.request import suite_folder

CHECK_TYPE = "application/vnd.trialbox.check+json"
_AT_ONCE = 8


@dataclass(frozen=True)
class CheckRequest:
    """What is to be checked: every suite (*names* empty) or some, all of their tasks (*tasks* empty) or some."""

    names: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    keep_going: bool = False
    """Whether malformed tasks, and those at which the engine failed, are left out instead of ending the check."""
    fresh: bool = False
    """Whether results kept from earlier checks are left aside."""
    concurrency: int | None = None
    references: References = field(default_factory=lambda: DEFAULTS)
    """Whose recorded attempts say whether a task is hard."""


@dataclass(frozen=True)
class TaskResult:
    """A task's admission; ``remembered`` says that it comes from an earlier check of the very same task."""

    admission: Admission
    remembered: bool


@dataclass(frozen=True)
class SuiteResult:
    """A suite's tasks, and what stands against the suite: its lock, and tasks that could not be loaded."""

    suite: Suite
    ref: SuiteRef | None
    """None for a suite with a task that could not be loaded: such a one has no identity."""
    lock: str
    """What is wrong with its lock; empty if it holds."""
    tasks: tuple[TaskResult, ...]
    unfinished: Mapping[str, InfraError] = field(default_factory=dict)
    """With ``keep_going``: the tasks at which the engine failed, so that nothing is said of them."""

    @property
    def admitted(self) -> bool:
        """Whether nothing stands against it."""
        whole = not self.lock and not self.suite.errors and not self.unfinished
        return whole and all(one.admission.admitted for one in self.tasks)


@dataclass(frozen=True)
class Checked:
    """All suites, the time it took, and the digest under which the record is in the store."""

    suites: tuple[SuiteResult, ...]
    wall_us: int
    record: str

    @property
    def admitted(self) -> bool:
        """Whether nothing stands against any of it."""
        return all(one.admitted for one in self.suites)

    @property
    def finished(self) -> bool:
        """Whether every task could be looked at."""
        return not any(one.unfinished for one in self.suites)


def chosen(request: CheckRequest) -> list[tuple[Suite, tuple[Task, ...]]]:
    """The suites of a request, each with the tasks to be checked.

    Raises:
        UserError: an unknown suite or task, or (without ``keep_going``) a malformed one; a number out of range.
    """
    if request.concurrency is not None and request.concurrency < 1:
        raise UserError("--concurrency", f"{request.concurrency} is too small", "give 1 or more")
    tasks_dir = places.data_folder("tasks")
    folders = [suite_folder(name, tasks_dir) for name in request.names or _current(tasks_dir)]
    suites = [load_suite(folder, keep_going=request.keep_going, releases=places.releases()) for folder in folders]
    return [(suite, _tasks(suite, request.tasks)) for suite in suites]


def _tasks(suite: Suite, wanted: Sequence[str]) -> tuple[Task, ...]:
    for name in wanted:
        if name in suite.spec.tasks and suite.errors and not any(task.id == name for task in suite.tasks):
            raise next((one for one in suite.errors if f"/{name}" in one.where), suite.errors[0])
    return tuple(suite.task(name) for name in dict.fromkeys(wanted)) or suite.tasks


def _current(tasks_dir: Path) -> list[str]:
    """Every suite's current version; kept ones were checked when they were current, and can be by name."""
    return [name for name in find_suites(tasks_dir) if "@" not in name]


def check(request: CheckRequest, state: State, progress: Progress) -> Checked:
    """Check what a request names.

    Raises:
        UserError: see :func:`chosen`.
        InfraError: the engine failed; what was finished by then is remembered. With ``keep_going`` only where it is
            not there at all.
        KeyboardInterrupt: somebody stopped it; the same holds.
    """
    began = time.monotonic_ns()
    work = chosen(request)
    with prepared(state) as ledger, opened(state, progress) as engine:
        images = _images(engine, work, progress)
        store = LocalStore(state.blobs)
        preflight(engine, images["base"].handle, state.owner)
        at_once = request.concurrency or min(engine.info.cpus, _AT_ONCE)
        with (
            closing(open_session(EnergyRequest(choice=MeterChoice.OFF), state.cache / "idle")) as energy,
            Workers(engine, state.owner, at_once) as workers,
        ):
            tools = Tools(
                engine=engine,
                store=store,
                cache=ledger,
                images=images,
                energy=energy,
                cores=Cores(range(engine.info.cpus)),
                owner=state.owner,
            )
            mode = ExecutionMode.SEALED if engine.info.same_kernel else ExecutionMode.SEALED_VM_ENGINE
            library = clock.library(engine, images[clock.IMAGE], places.image_cache())
            checker = _Checker(request, Bench(tools, mode, library, workers), ledger, progress)
            suites = tuple(checker.suite(suite, tasks, score_basis(images, engine)) for suite, tasks in work)
        wall_us = (time.monotonic_ns() - began) // 1000
        return Checked(suites, wall_us, _record(suites, wall_us, store))


def _images(
    engine: Engine, work: Sequence[tuple[Suite, tuple[Task, ...]]], progress: Progress
) -> dict[str, BuiltImage]:
    programs = [task for _, tasks in work for task in tasks if task.program is not None]
    more = [name for task in programs for name in images_for(task)]
    return images_of(engine, [suite for suite, _ in work], progress, [clock.IMAGE, *more])


class _Checker:
    def __init__(self, request: CheckRequest, bench: Bench, ledger: Ledger, progress: Progress) -> None:
        self._request, self._bench, self._progress = request, bench, progress
        self._remembered = Remembered(ledger, bench.tools.store, bench.tools.images)
        self._attempts = recorded_attempts(ledger, bench.tools.store, request.references)

    def suite(self, suite: Suite, tasks: Sequence[Task], basis: ScoreBasis) -> SuiteResult:
        """Check some tasks of a suite, and its lock."""
        stale = dict(_stale(suite, basis))
        results: list[TaskResult] = []
        unfinished: dict[str, InfraError] = {}
        for number, task in enumerate(tasks, start=1):
            self._progress.note(f"{suite.name} {number}/{len(tasks)}: {task.id}")
            try:
                result = self._task(suite, task, task_ref(suite, task, basis))
            except InfraError as error:
                if not self._request.keep_going:
                    raise
                self._progress.note(f"{task.id} could not be checked: {error}")
                unfinished[task.id] = error
                continue
            against = [*([stale[task.id]] if task.id in stale else []), *_overclaimed(task)]
            for reason in against:
                result = replace(result, admission=refused(result.admission, reason))
            if not result.admission.admitted:
                self._progress.note(f"{task.id} is not admitted: {result.admission.reasons[0]}")
            results.append(result)
        ref = None if suite.errors else suite_ref(suite, basis)
        return SuiteResult(suite, ref, _lock_problem(suite, basis), tuple(results), unfinished)

    def _task(self, suite: Suite, task: Task, ref: TaskRef) -> TaskResult:
        hard = frontier(self._attempts.get(ref.score_hash, ()), self._request.references)
        subject = Subject(task, ref, suite, hard)
        known = None if self._request.fresh else self._remembered.get(subject)
        if known is not None:
            now = {"frontier": hard, "version": suite.version}
            return TaskResult(known.model_copy(update=now), remembered=True)
        made = check_task(subject, self._bench)
        self._remembered.keep(subject, made)
        return TaskResult(made, remembered=False)


def refused(admission: Admission, reason: str) -> Admission:
    """An admission with one more reason against it."""
    return admission.model_copy(update={"admitted": False, "reasons": (*admission.reasons, reason)})


def _stale(suite: Suite, basis: ScoreBasis) -> Iterator[tuple[str, str]]:
    """The tasks whose score hash is not the locked one, though the version is."""
    lock = read_lock(suite)
    if lock is None or lock.version != suite.version:
        return
    for task in suite.tasks:
        locked = lock.tasks.get(task.id)
        if locked is None or locked.score_hash != task_ref(suite, task, basis).score_hash:
            what = "is new" if locked is None else "has another score hash"
            yield task.id, f"lock: the task {what}, yet the version is still {suite.version}"


def _overclaimed(task: Task) -> Iterator[str]:
    """Why a task may not say that it is decontaminated; not remembered, since the table of cutoffs grows."""
    provenance = task.spec.provenance
    for fault in claim_faults(provenance) if provenance is not None else ():
        yield f"decontaminated: {fault}; say `decontaminated = false`"


def _lock_problem(suite: Suite, basis: ScoreBasis) -> str:
    if suite.errors:
        return "not looked at: a task could not be loaded"
    try:
        check_lock(suite, basis)
    except UserError as error:
        return f"{error.problem}; {error.remedy}"
    return ""


def recorded_attempts(
    ledger: Ledger, store: Store, references: References = DEFAULTS
) -> dict[str, list[ReferenceAttempt]]:
    """The attempts of reference solvers in a ledger's real runs, the oldest run first, by the task's score hash.

    A dry run's are not among them: a script plays its models.

    Raises:
        VerifyError: a record or a trace of one can't be read.
    """
    by_task: dict[str, list[ReferenceAttempt]] = {}
    for run in ledger.runs():
        meant = [one for one in run.plan.solvers if any(role.plays(one) for role in references.values())]
        solvers = {one.name: one for one in meant if run.plan.mode is RunMode.REAL}
        for one in ledger.tries(run.id) if solvers else ():
            if one.record is None or one.cell.solver not in solvers:
                continue
            record = from_json(AttemptRecord, store.get(one.record.digest))
            whole = [trace for trace in record.traces if trace.channel == WEB and trace.coverage is Coverage.FULL]
            lines = [line for trace in whole if trace.lines for line in read_trace(store, trace.lines)]
            made = reference_attempt(references, solvers[one.cell.solver], record, lines)
            if made is not None:
                by_task.setdefault(record.task.score_hash, []).append(made)
    return by_task


def _record(suites: Sequence[SuiteResult], wall_us: int, store: Store) -> str:
    info = places.harness_info()
    record = CheckRecord(
        harness_version=info.version,
        harness_commit=info.commit,
        rules=rules(),
        suites=tuple(one.ref for one in suites if one.ref is not None),
        tasks=tuple(result.admission for one in suites for result in one.tasks),
        wall_us=wall_us,
    )
    return store.put(to_json(record), CHECK_TYPE).digest


__all__ = ["CheckRequest", "Checked", "SuiteResult", "TaskResult", "check", "chosen", "recorded_attempts"]
