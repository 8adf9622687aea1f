"""One run from request to card: lock, engine, images, plan, sweep, card."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.attempt import Tools
from harness.cores import Cores
from harness.energy import EnergyRequest, IdleBaseline, open_session, recheck
from harness.energy import choose as choose_meter
from harness.energy.fingerprint import host_facts
from harness.engine.client import Engine
from harness.errors import ExitCode, TrialboxError, UserError
from harness.honey import honeyed
from harness.ledger import InterventionKind, Ledger, Run
from harness.money import usd
from harness.preflight import preflight
from harness.progress import Progress
from harness.records import Plan, RunMode, to_json
from harness.scanning import open_scanner
from harness.spend import permit
from harness.state import State
from harness.store import LocalStore, Store
from harness.suites.hashing import ScoreBasis
from harness.suites.lock import Standing, standing
from harness.suites.task import Suite, Task
from harness.sweep import Sweep, run_sweep
from harness.traces.hook import traced
from scoring.card import Card, make_card, write_card
from scoring.evidence import read_evidence
from scoring.prices import PriceTable
from scoring.stamp import PRICES_TYPE, Circumstances, engine_stamp, host_stamp
from trialbox import places
from trialbox.asking import Asking, askings
from trialbox.auditing import audit_evidence
from trialbox.entrance import Entrance
from trialbox.opening import bundled, images_of, opened, prepared, score_basis
from trialbox.planning import Bench, make_plan
from trialbox.pricing import prices_of
from trialbox.request import Request, Selection, select
from trialbox.room import opened_room
from trialbox.settings import daily_cap, providers, watts

if TYPE_CHECKING:
    from harness.gateway.calls import AnyGateway

PREDICTIONS = "predictions"
"""The option by which the ledger tells a grading of patches made elsewhere from a run."""


CAP = "daily_cap_usd"
"""What the daily cap was when a run that spends began."""


class Interrupted(TrialboxError):
    """The user stopped a run; what ended is kept."""

    exit_code = ExitCode.INTERRUPTED


@dataclass(frozen=True)
class Done:
    """A finished run and its card."""

    run_id: str
    card: Card
    path: Path


def start(request: Request, state: State, progress: Progress, *, confirmed: bool = False) -> Done:
    """Plan and run.

    Raises:
        GateError: it would spend, and nobody confirmed that; nothing was spent.
        TrialboxError: see the part that fails; what had ended by then is in the ledger.
    """
    selection = select(request, places.data_folder("tasks"))
    request = replace(request, concurrency=selection.concurrency)
    choose_meter(_energy(request, state)).close()  # a meter that does not read is a mistake, not a run
    asked = asked_by(request, selection, state)
    _permit(asked, confirmed)
    with prepared(state) as ledger, opened(state, progress, alone=request.certified) as engine:
        bench = _bench(request, selection, asked, engine, state, ledger, progress)
        return _run(begun(ledger, make_plan(bench), request.to_options(), state, selection), bench)


def resume(name: str, concurrency: int | None, state: State, progress: Progress, *, confirmed: bool = False) -> Done:
    """Go on with a run that did not end.

    Raises:
        UserError: there is no such run, or what it was planned from has changed.
        TrialboxError: as in start().
    """
    with prepared(state) as ledger:
        run = ledger.run(name)
        ledger.check(run.id)
        request = planned(run)
        changes = _cap_change(run, state)
        if concurrency is not None and concurrency != request.concurrency:
            changes.append(f"concurrency {request.concurrency} to {concurrency}")
            request = replace(request, concurrency=concurrency)
        selection = select(request, places.data_folder("tasks"))
        asked = asked_by(request, selection, state)
        left = ledger.pending(run.id)
        _permit({name: one for name, one in asked.items() if any(cell.solver == name for cell in left)}, confirmed)
        with opened(state, progress, alone=request.certified) as engine:
            bench = _bench(request, selection, asked, engine, state, ledger, progress)
            _refuse_change(run, make_plan(bench))
            if left:
                ledger.resume(run.id)
                for change in changes:
                    ledger.intervene(run.id, InterventionKind.LIMIT_CHANGE, change)
            return _run(run, bench)


def begun(ledger: Ledger, plan: Plan, options: Mapping[str, Any], state: State, selection: Selection) -> Run:
    """A new run, with what its operator decided beyond the plan written down."""
    kept = {**options, CAP: usd(daily_cap(state))} if plan.mode is RunMode.REAL else options
    run = ledger.run(ledger.create_run(plan, kept))
    if selection.partial:
        left = len(selection.suite.tasks) - len(selection.tasks)
        detail = f"{left} of {len(selection.suite.tasks)} tasks of the suite were left out"
        ledger.intervene(run.id, InterventionKind.EXCLUSION, detail)
    return run


def _cap_change(run: Run, state: State) -> list[str]:
    """Whether the daily cap is another one than it was when the run began."""
    before, now = run.options.get(CAP), usd(daily_cap(state))
    return [] if before in {None, now} else [f"daily cap {before} to {now} US dollars"]


def planned(run: Run) -> Request:
    """What a run was asked to be.

    Raises:
        UserError: it is none that can be resumed.
    """
    if PREDICTIONS in run.options:
        raise UserError(f"run {run.id}", "graded predictions", "run `trialbox grade` again, which begins anew")
    return Request.from_options({name: value for name, value in run.options.items() if name != CAP})


def asked_by(request: Request, selection: Selection, state: State) -> dict[str, Asking]:
    """How the solvers of a run reach their models.

    Raises:
        UserError: see :func:`trialbox.asking.askings`.
    """
    if not any(one.manifest.driver.asks_model for one in selection.solvers) and not request.real:
        request.terms.check()
    return askings(
        selection.solvers, request.terms, providers(state), os.environ, prices_of(state), fleet=selection.fleet
    )


def _permit(asked: Mapping[str, Asking], confirmed: bool) -> None:
    """The spend gate, once more, before anything begins."""
    permit((one.dispatches(1) for _, one in sorted(asked.items()) if not one.unavailable), confirmed=confirmed)


def _bench(
    request: Request,
    selection: Selection,
    asked: Mapping[str, Asking],
    engine: Engine,
    state: State,
    ledger: Ledger,
    progress: Progress,
) -> Bench:
    """Make sure of the host's size, of the images, and of the agents' bundles."""
    for task in selection.tasks:
        Cores(range(engine.info.cpus)).require(task.limits.cpus)
    images = images_of(engine, [selection.suite], progress)
    warn_of_lock(selection.suite, score_basis(images, engine), progress)
    selection = replace(selection, solvers=bundled(selection.solvers, engine, progress))
    return Bench(request, selection, asked, prices_of(state), images, engine, state, ledger, progress)


def warn_of_lock(suite: Suite, basis: ScoreBasis, progress: Progress) -> Standing:
    """How the suite lies to its lock; said before anything is spent if its card can't be published for that."""
    found = standing(suite, basis)
    if found is Standing.CHANGED:
        progress.note(
            f"{suite.name} is not what {suite.version} was locked as: the card says so and can't be published;"
            f" `trialbox suite lock {shlex.quote(str(suite.folder))}` names what changed"
        )
    return found


def _energy(request: Request, state: State) -> EnergyRequest:
    return EnergyRequest(
        choice=request.meter, watts=watts(request.active_watts, state), quick_idle=not request.certified
    )


def _run(run: Run, bench: Bench) -> Done:
    try:
        return _to_its_card(run, bench)
    except KeyboardInterrupt as error:
        confirm = " --confirm-spend" if run.plan.mode is RunMode.REAL else ""
        go_on = f"go on with `trialbox run --resume {run.id}{confirm}`"
        raise Interrupted(f"run {run.id}", "interrupted", go_on) from error


def _to_its_card(run: Run, bench: Bench) -> Done:
    store = LocalStore(bench.state.blobs)
    idle_after = _sweep(run, bench, store) if bench.ledger.pending(run.id) else None
    concurrency = bench.selection.concurrency
    prices = bench.prices if run.plan.mode is RunMode.REAL and bench.asked else None
    tasks = bench.selection.tasks
    lock = standing(bench.selection.suite, score_basis(bench.images, bench.engine))
    return stamped(
        run,
        idle_after,
        bench.engine,
        bench.state,
        bench.ledger,
        store,
        concurrency=concurrency,
        tasks=tasks,
        lock=lock,
        prices=prices,
    )


def stamped(
    run: Run,
    idle_after: IdleBaseline | None,
    engine: Engine,
    state: State,
    ledger: Ledger,
    store: Store,
    *,
    concurrency: int,
    tasks: Sequence[Task],
    lock: Standing,
    prices: PriceTable | None = None,
) -> Done:
    """The card of a run whose cells have all ended, audited.

    Args:
        lock: how the suite lies to its lock.
        prices: what money is shown by, where any is.
    """
    if prices is not None:
        store.put(to_json(prices), PRICES_TYPE)
    head = ledger.check(run.id)
    evidence = read_evidence(run.plan, ledger.tries(run.id), store, idle_after, prices)
    audited = audit_evidence(evidence, {task.id: task for task in tasks}, store)
    made = _circumstances(run, engine, ledger, concurrency, head).model_copy(
        update={"audited": audited, "suite_lock": lock}
    )
    card = make_card(evidence, made)
    path = write_card(state.cards, card)
    ledger.set_card(run.id, card.id)
    return Done(run.id, card, path)


def _prove(bench: Bench, gateway: AnyGateway) -> None:
    from harness.gateway.reach import prove_reach  # the gateway's packages are slow to load

    prove_reach(bench.engine, bench.images["base"].handle, bench.state.owner, gateway)


def _sweep(run: Run, bench: Bench, store: LocalStore) -> IdleBaseline | None:
    """Run what is pending; returns the idle power afterwards, where a counter measures it."""
    engine, owner = bench.engine, bench.state.owner
    entrance = Entrance(engine, bench.state, bench.progress, bench.selection.concurrency)
    preflight(engine, bench.images["base"].handle, owner)
    with (
        closing(open_session(_energy(bench.request, bench.state), bench.state.cache / "idle")) as energy,
        opened_room(
            run,
            bench.asked,
            bench.selection.tasks,
            state=bench.state,
            ledger=bench.ledger,
            store=store,
            prices=bench.prices,
            start=lambda keys: entrance.start(keys, dry=run.plan.mode is RunMode.DRY),
            prove=lambda gateway: _prove(bench, gateway),
            script=bench.request.script,
        ) as room,
    ):
        # A bind mount is a folder of the engine's own host.
        decoyed = bench.selection.tasks if engine.info.same_kernel else ()
        sweep = Sweep(
            run_id=run.id,
            plan=run.plan,
            tasks={task.id: task for task in bench.selection.tasks},
            solvers=bench.selection.solvers,
            mode=entrance.mode,
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
                hooks=traced(honeyed(room.hooks, bench.state.root / "honey", store, decoyed), store),
            ),
            ledger=bench.ledger,
            progress=bench.progress,
            dispatch=room.dispatch,
        )
        run_sweep(sweep, concurrency=bench.selection.concurrency)
        return recheck(energy) if energy.idle.power_uw is not None else None


def _circumstances(run: Run, engine: Engine, ledger: Ledger, concurrency: int, head: str) -> Circumstances:
    info = engine.info
    return Circumstances(
        run_id=run.id,
        created_us=run.created_us,
        harness=places.harness_info(),
        python=platform.python_version(),
        engine=engine_stamp(info),
        host=host_stamp(info, host_facts(()).cpu_model),
        concurrency=concurrency,
        interventions=ledger.interventions(run.id),
        runs_known=ledger.runs_known(run.plan.id),
        ledger=head,
        certified=bool(run.options.get("certified")),
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
