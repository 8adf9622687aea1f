"""Patches made elsewhere, from a file of predictions to a card: one solver for each model that the file names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.attempt import Planned, Tools
from harness.cores import Cores
from harness.digest import digest, sha256_bytes
from harness.energy import EnergyRequest, open_session
from harness.energy.choose import MeterChoice
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.ledger import Ledger, Run
from harness.outcomes import MAX_TRIES, may_retry
from harness.preflight import preflight
from harness.progress import Finished, Progress
from harness.records import Cell, ExecutionMode, Plan, RunMode, SolverRef, to_json
from harness.regrade import run_patch
from harness.scanning import open_scanner
from harness.state import State
from harness.store import LocalStore, Store
from harness.suites.foreign.predictions import Matched, Prediction, match, model_digest, read_predictions
from harness.suites.hashing import suite_ref, task_ref
from harness.suites.load import load_suite
from harness.suites.task import Suite
from harness.sweep import ATTEMPT_TYPE
from harness.untrusted import clean_text
from scoring.formula import FORMULA
from trialbox import places
from trialbox.opening import images_of, opened, prepared, score_basis
from trialbox.request import suite_folder
from trialbox.running import PREDICTIONS, Done, stamped, warn_of_lock

PROVIDER = "elsewhere"
"""Who made the patches is not known here, nor what was paid for them."""
_AT_ONCE = 2


@dataclass(frozen=True)
class Graded:
    """The card, and the instances that were predicted for and are not in the suite."""

    done: Done
    strangers: tuple[str, ...]


def grade_predictions(suite_name: str, path: Path, state: State, progress: Progress) -> Graded:
    """Grade every prediction that is for a task of the suite; a task without one ends as unavailable.

    Raises:
        UserError: the suite or the file is malformed, or has nothing for the other.
        TrialboxError: the engine, the store or the seal failed.
    """
    suite = load_suite(suite_folder(suite_name, places.data_folder("tasks")), releases=places.releases())
    matched = match(read_predictions(path), suite.tasks, str(path))
    names = _names(matched.by_model)
    with prepared(state) as ledger, opened(state, progress) as engine:
        images = images_of(engine, [suite], progress)
        lock = warn_of_lock(suite, score_basis(images, engine), progress)
        plan = _plan(suite, matched, names, images, engine)
        run = ledger.run(ledger.create_run(plan, {"suite": suite_name, PREDICTIONS: str(path)}))
        by_name = {names[model]: rows for model, rows in matched.by_model.items()}
        store = LocalStore(state.blobs)
        preflight(engine, images["base"].handle, state.owner)
        with _tools(engine, images, store, ledger, state) as tools:
            _grade_all(run, suite, by_name, tools, ledger, progress)
        done = stamped(run, None, engine, state, ledger, store, concurrency=_AT_ONCE, tasks=suite.tasks, lock=lock)
        return Graded(done, matched.strangers)


@contextmanager
def _tools(
    engine: Engine, images: Mapping[str, BuiltImage], store: Store, ledger: Ledger, state: State
) -> Iterator[Tools]:
    with closing(open_session(EnergyRequest(choice=MeterChoice.OFF), state.cache / "idle")) as energy:
        yield Tools(
            engine=engine,
            store=store,
            cache=ledger,
            images=images,
            energy=energy,
            cores=Cores(range(engine.info.cpus)),
            owner=state.owner,
            scanner=open_scanner(engine, images["scanner"], store, ledger, state.owner),
        )


def _plan(
    suite: Suite, matched: Matched, names: Mapping[str, str], images: Mapping[str, BuiltImage], engine: Engine
) -> Plan:
    basis = score_basis(images, engine)
    solvers = tuple(
        SolverRef(
            name=names[model],
            kind=ExecutionMode.FOREIGN_PATCH.value,
            model=clean_text(model),
            manifest=digest({"model": model, "patches": model_digest(rows)}),
        )
        for model, rows in matched.by_model.items()
    )
    return Plan(
        suite=suite_ref(suite, basis),
        partial=False,
        tasks=tuple(task_ref(suite, task, basis) for task in suite.tasks),
        solvers=solvers,
        attempts=1,
        mode=RunMode.REAL,
        provider=PROVIDER,
        formula=FORMULA.digest,
        images=tuple(images[name].ref for name in sorted(images)),
    )


def _names(models: Mapping[str, object]) -> dict[str, str]:
    """A solver's name for each model; a digest keeps apart what would be the same."""
    names: dict[str, str] = {}
    for model in models:
        name = re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-._")[:48] or "model"
        if name in names.values():
            name = f"{name[:39]}-{sha256_bytes(model.encode()).removeprefix('sha256:')[:8]}"
        names[model] = name
    return names


def _grade_all(
    run: Run,
    suite: Suite,
    predictions: Mapping[str, Mapping[str, Prediction]],
    tools: Tools,
    ledger: Ledger,
    progress: Progress,
) -> None:
    refs = {ref.task: ref for ref in run.plan.tasks}
    cells = ledger.pending(run.id)
    progress.planned(len(cells), 0)

    def grade(cell: Cell) -> None:
        prediction = predictions[cell.solver].get(cell.task)
        patch = None if prediction is None else prediction.patch.encode("utf-8", "replace")
        for tried in range(1, MAX_TRIES + 1):
            number = ledger.start_try(run.id, cell)
            progress.started(cell, number)
            job = Planned(
                plan=run.plan.id,
                cell=cell,
                attempt_try=number,
                task=suite.task(cell.task),
                ref=refs[cell.task],
                mode=ExecutionMode.FOREIGN_PATCH,
                concurrency=_AT_ONCE,
            )
            record = run_patch(job, patch, tools)
            terminal = not may_retry(record.outcome) or tried == MAX_TRIES
            blob = tools.store.put(to_json(record), ATTEMPT_TYPE)
            ledger.finish(run.id, cell, number, record.outcome, blob, terminal=terminal)
            progress.finished(_finished(record, terminal))
            if terminal:
                return

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        try:
            for future in [pool.submit(grade, cell) for cell in cells]:
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _finished(record: AttemptRecord, terminal: bool) -> Finished:
    return Finished(
        cell=record.cell,
        attempt_try=record.attempt_try,
        outcome=record.outcome,
        terminal=terminal,
        energy_uj=None,
        energy_reliable=False,
        wall_us=record.grade.wall_us if record.grade else 0,
        reason=record.reason,
    )
