"""Where a run's models are while it goes: the gateway, in a dry run the scripted provider, and what guards both."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.dispatch import Dispatch, Reach, free
from harness.errors import GO_ON, EngineGone, VerifyError
from harness.evidence import AttemptRecord
from harness.gateway.access import Upstream
from harness.gateway.providers import scripted
from harness.hooks import Hook, no_hooks
from harness.ledger import Ledger, Run
from harness.records import Cell, RunMode, from_json
from harness.spend import Spender, estimate
from harness.spend_book import SpendBook
from harness.state import State
from harness.store import LocalStore
from harness.suites.task import Task
from scoring.prices import PriceTable
from trialbox.asking import Asking
from trialbox.pricing import meter
from trialbox.settings import daily_cap

if TYPE_CHECKING:
    from harness.gateway.calls import AnyGateway

PATIENCE_S = 10.0
"""Before the second try of an attempt that a provider failed; a script's faults need no patience."""


@dataclass(frozen=True)
class Room:
    """What a sweep needs of it."""

    dispatch: Dispatch
    hooks: Callable[[Cell], Sequence[Hook]]


@contextmanager
def opened_room(
    run: Run,
    askings: Mapping[str, Asking],
    tasks: Sequence[Task],
    *,
    state: State,
    ledger: Ledger,
    store: LocalStore,
    prices: PriceTable,
    start: Callable[[Mapping[str, str]], AnyGateway],
    prove: Callable[[AnyGateway], object],
    script: str | None = None,
) -> Iterator[Room]:
    """The room of a run, for as long as it goes; an empty one where no solver asks a model.

    *start* is given the keys by upstream. *prove* is given the gateway once it runs, and refuses an engine whose
    containers reach more than that.

    Raises:
        GateError: they do.
        InfraError: the gateway did not start, or can't be reached from a container.
        UserError: the script can't be read.
    """
    if not askings:
        yield Room(Dispatch(), no_hooks)
        return
    folder = state.root / "gateway"
    shutil.rmtree(folder, ignore_errors=True)  # what a killed run left
    with ExitStack() as stack:
        keys = {one.upstream.name: one.key.key or "" for one in askings.values() if one.upstream and one.key.key}
        gateway = stack.enter_context(start(keys))
        prove(gateway)
        dry = run.plan.mode is RunMode.DRY
        upstream, scripts = _rehearsal(stack, gateway, tasks, script) if dry else (None, {})
        book = SpendBook(ledger, daily_cap(state))
        book.abandon()  # the state folder is ours alone: whatever is open is of a process that died
        found = estimate([one.dispatches(0) for one in askings.values()], book)
        reaches = dict(_reaches(askings, upstream, {} if dry else found.holds))
        dispatch = Dispatch(
            reaches,
            None if dry else Spender(book),
            free if dry else meter(prices, store),
            unavailable={name: one.unavailable for name, one in askings.items() if one.unavailable},
            reached=_reached(run, ledger, store),
            pause_s=gateway.settings.breaker_pause_ms / 1000,
            patience_s=0.0 if dry else PATIENCE_S,
        )
        yield Room(dispatch, _hooks(gateway, reaches, scripts))
    shutil.rmtree(folder, ignore_errors=True)


def _reaches(
    askings: Mapping[str, Asking], rehearsal: Upstream | None, holds: Mapping[str, int]
) -> Iterator[tuple[str, Reach]]:
    for name, one in askings.items():
        upstream = rehearsal or one.upstream
        if upstream is not None:
            access = one.access(upstream)
            yield name, Reach(access, one.worker, hold=holds.get(name))


def _hooks(
    gateway: AnyGateway, reaches: Mapping[str, Reach], scripts: Mapping[str, str]
) -> Callable[[Cell], Sequence[Hook]]:
    from harness.gateway.hook import GatewayHook

    def hooks(cell: Cell) -> Sequence[Hook]:
        reach = reaches.get(cell.solver)
        if reach is None:
            return ()
        if not gateway.alive:
            raise EngineGone("the gateway", "died", GO_ON)
        return (GatewayHook(gateway, reach.access, key=scripts.get(cell.task)),)

    return hooks


def _rehearsal(
    stack: ExitStack, gateway: AnyGateway, tasks: Sequence[Task], script: str | None
) -> tuple[Upstream, dict[str, str]]:
    """The scripted provider, and by task the key under which it answers with the task's reference."""
    from harness.gateway.apart import ContainerGateway, Rehearsal
    from harness.gateway.scripted.provider import ScriptedProvider
    from harness.gateway.scripted.read import load_script
    from harness.gateway.scripted.tasks import script_for

    given = None if script is None else load_script(Path(script))
    provider = Rehearsal(gateway) if isinstance(gateway, ContainerGateway) else stack.enter_context(ScriptedProvider())
    scripts = {task.id: provider.add(given or script_for(task)) for task in tasks}
    return scripted(provider.url), scripts


def _reached(run: Run, ledger: Ledger, store: LocalStore) -> set[str]:
    """The solvers that a model has answered in an earlier process of this run."""
    found = set()
    for one in ledger.tries(run.id):
        if one.record is not None and one.cell.solver not in found:
            try:
                traffic = from_json(AttemptRecord, store.get(one.record.digest)).traffic
            except VerifyError:
                continue  # the card will say so
            if traffic is not None and (traffic.served_models or traffic.usage.stated):
                found.add(one.cell.solver)
    return found
