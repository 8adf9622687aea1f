"""One run from request to card: lock, engine, images, plan, sweep, card."""

from __future__ import annotations

import platform
import resource
import signal
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from harness.attempt import Tools
from harness.cores import Cores
from harness.energy import EnergyRequest, IdleBaseline, open_session, recheck
from harness.energy import choose as choose_meter
from harness.energy.fingerprint import host_facts
from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import BuiltImage, ensure
from harness.engine.sandbox import reap
from harness.errors import ExitCode, TrialboxError, UserError
from harness.ledger import Ledger, Run
from harness.preflight import preflight
from harness.progress import Progress
from harness.records import ExecutionMode, Plan, RunMode
from harness.scanning import open_scanner
from harness.state import State
from harness.store import LocalStore, Store
from harness.suites.hashing import ScoreBasis, suite_ref, task_ref
from harness.sweep import Sweep, run_sweep
from scoring.card import Card, make_card, write_card
from scoring.evidence import read_evidence
from scoring.formula import FORMULA
from scoring.stamp import Circumstances, engine_stamp, host_stamp
from trialbox import places
from trialbox.request import Request, Selection, select

OWN_IMAGES = ("base", "scanner")
PROVIDER = "scripted"
_OPEN_FILES = 65_536
_PLATFORMS = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Interrupted(TrialboxError):
    """The user stopped a run; what ended is kept."""

    exit_code = ExitCode.INTERRUPTED


@dataclass(frozen=True)
class Done:
    """A finished run and its card."""

    run_id: str
    card: Card
    path: Path


def start(request: Request, state: State, progress: Progress) -> Done:
    """Plan and run.

    Raises:
        TrialboxError: see the part that fails; what had ended by then is in the ledger.
    """
    selection = select(request, places.data_folder("tasks"))
    choose_meter(EnergyRequest(choice=request.meter)).close()  # a meter that does not read is a mistake, not a run
    with _prepared(state) as ledger, _engine(state, progress) as engine:
        bench = _Bench(request, selection, _images(engine, selection, progress), engine, state, ledger, progress)
        run_id = ledger.create_run(make_plan(request, selection, bench.images, engine), request.to_options())
        return _run(ledger.run(run_id), bench)


def resume(name: str, concurrency: int | None, state: State, progress: Progress) -> Done:
    """Go on with a run that did not end.

    Raises:
        UserError: there is no such run, or what it was planned from has changed.
        TrialboxError: as in start().
    """
    with _prepared(state) as ledger:
        run = ledger.run(name)
        request = Request.from_options(run.options)
        detail = ""
        if concurrency is not None and concurrency != request.concurrency:
            detail = f"concurrency {request.concurrency} to {concurrency}"
            request = replace(request, concurrency=concurrency)
        selection = select(request, places.data_folder("tasks"))
        with _engine(state, progress) as engine:
            bench = _Bench(request, selection, _images(engine, selection, progress), engine, state, ledger, progress)
            _refuse_change(run, make_plan(request, selection, bench.images, engine))
            if ledger.pending(run.id):
                ledger.resume(run.id, detail)
            return _run(run, bench)


@dataclass(frozen=True)
class _Bench:
    """All that a run stands on."""

    request: Request
    selection: Selection
    images: Mapping[str, BuiltImage]
    engine: Engine
    state: State
    ledger: Ledger
    progress: Progress


def make_plan(request: Request, selection: Selection, images: Mapping[str, BuiltImage], engine: Engine) -> Plan:
    """Everything that is fixed before the first dispatch."""
    machine = engine.info.architecture
    basis = ScoreBasis(
        image_locks={name: image.ref.lock for name, image in images.items()},
        platform=f"linux/{_PLATFORMS.get(machine, machine)}",
    )
    return Plan(
        suite=suite_ref(selection.suite, basis),
        partial=selection.partial,
        tasks=tuple(task_ref(selection.suite, task, basis) for task in selection.tasks),
        solvers=tuple(solver.ref() for solver in selection.solvers),
        attempts=request.attempts,
        mode=RunMode.DRY,
        provider=PROVIDER,
        formula=FORMULA.digest,
        images=tuple(images[name].ref for name in sorted(images)),
    )


@contextmanager
def _prepared(state: State) -> Iterator[Ledger]:
    """The state folder, this process's alone."""
    with state.locked():
        state.prepare()
        with Ledger(state.ledger) as ledger:
            yield ledger


@contextmanager
def _engine(state: State, progress: Progress) -> Iterator[Engine]:
    """An engine in which nothing of this state folder's is left over, before and after."""
    with _terminable(), connect(notify=progress.note) as engine:
        _open_many()  # not before: a daemon that we start hands its limits on to the containers
        left = reap(engine, state.owner)
        if left:
            progress.note(f"removed {left} containers and volumes that a killed run had left")
        yield engine


def _open_many() -> None:
    """Let this process have as many open files as it may: each attempt at a time takes a few sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # macOS promises more than its kernel gives; then it stays as it was
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: cleanly, and resumable."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _images(engine: Engine, selection: Selection, progress: Progress) -> dict[str, BuiltImage]:
    """Every image that the run needs, in the engine; all the suite's, since the suite's identity covers them."""
    names = dict.fromkeys([*OWN_IMAGES, *(task.image for task in selection.suite.tasks)])
    where = places.data_folder("images")
    return {
        name: ensure(engine.api, name, cache=places.image_cache(), images_dir=where, report=progress.note)
        for name in names
    }


def _run(run: Run, bench: _Bench) -> Done:
    store = LocalStore(bench.state.blobs)
    idle_after = _sweep(run, bench, store) if bench.ledger.pending(run.id) else None
    evidence = read_evidence(run.plan, bench.ledger.tries(run.id), store, idle_after)
    card = make_card(evidence, _circumstances(run, bench))
    path = write_card(bench.state.cards, card)
    bench.ledger.set_card(run.id, card.id)
    return Done(run.id, card, path)


def _sweep(run: Run, bench: _Bench, store: Store) -> IdleBaseline | None:
    """Run what is pending; returns the idle power afterwards, where a counter measures it."""
    engine, owner = bench.engine, bench.state.owner
    preflight(engine, bench.images["base"].handle, owner)
    with closing(open_session(EnergyRequest(choice=bench.request.meter), bench.state.cache / "idle")) as energy:
        sweep = Sweep(
            run_id=run.id,
            plan=run.plan,
            tasks={task.id: task for task in bench.selection.tasks},
            solvers=bench.selection.solvers,
            mode=ExecutionMode.SEALED if engine.info.same_kernel else ExecutionMode.SEALED_VM_ENGINE,
            tools=Tools(
                engine=engine,
                store=store,
                cache=bench.ledger,
                images=bench.images,
                energy=energy,
                cores=Cores(range(engine.info.cpus)),
                owner=owner,
                keep_workspaces=bench.request.keep_workspaces,
                scanner=open_scanner(engine, bench.images["scanner"], store, bench.ledger, owner),
            ),
            ledger=bench.ledger,
            progress=bench.progress,
        )
        try:
            run_sweep(sweep, concurrency=bench.request.concurrency)
            return recheck(energy) if energy.idle.power_uw is not None else None
        except KeyboardInterrupt as error:
            raise Interrupted(f"run {run.id}", "interrupted", f"go on with `trialbox run --resume {run.id}`") from error


def _circumstances(run: Run, bench: _Bench) -> Circumstances:
    info = bench.engine.info
    return Circumstances(
        run_id=run.id,
        created_us=run.created_us,
        harness=places.harness_info(),
        python=platform.python_version(),
        engine=engine_stamp(info),
        host=host_stamp(info, host_facts(()).cpu_model),
        concurrency=bench.request.concurrency,
        interventions=bench.ledger.interventions(run.id),
        runs_known=bench.ledger.runs_known(run.plan.id),
    )


def _refuse_change(run: Run, now: Plan) -> None:
    """A resumed run must go on with exactly what was planned."""
    if now.id == run.plan.id:
        return
    before, after = run.plan.model_dump(mode="json"), now.model_dump(mode="json")
    changed: list[Any] = [name for name in before if before[name] != after[name]]
    raise UserError(
        f"run {run.id}",
        f"its {', '.join(changed)} changed since it was planned",
        "put them back as they were, or start a new run",
    )
