"""What a real run would cost, told before anything is dispatched. Reads the ledger, and locks and spends nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harness.errors import UserError
from harness.ledger import Ledger
from harness.money import shown, usd
from harness.spend import Decision, Estimate, decide, estimate, told
from harness.spend_book import Day, SpendBook
from harness.state import State
from trialbox import places
from trialbox.request import Request, select
from trialbox.running import asked_by, planned
from trialbox.settings import daily_cap


@dataclass(frozen=True)
class Quote:
    """An estimate, what the gate says to it, and the day's account."""

    estimate: Estimate
    tasks: int
    attempts: int
    decision: Decision
    cap: int
    day: Day | None
    unavailable: dict[str, str]

    def lines(self) -> list[str]:
        """For a reader."""
        said = list(told(self.estimate, self.tasks, self.attempts)) or ["nothing that costs money"]
        said += [f"{name}: unavailable: {reason}" for name, reason in self.unavailable.items()]
        said.append(f"daily cap {shown(self.cap)}{self._today()}")
        if self.decision is Decision.STOP:
            once = "" if self.estimate.held else " once each worker has a price or a bound"
            said.append(f"Nothing was spent. --confirm-spend dispatches{once}.")
        return said

    def _today(self) -> str:
        if self.day is None:
            return ""
        held = self.day.charged - self.day.metered
        return f": {shown(self.day.metered)} spent and {shown(held)} held on {self.day.day} (UTC)"

    def to_value(self) -> dict[str, Any]:
        """As JSON: dollars in exact decimal, estimates and what was spent under names of their own."""
        return {
            "decision": self.decision.value,
            "spent_usd": "0",
            "estimate": {
                "low_usd": usd(self.estimate.low),
                "high_usd": usd(self.estimate.high),
                "workers": [
                    {
                        "solver": line.worker.name,
                        "attempts": line.worker.dispatches,
                        "low_usd": usd(line.low),
                        "high_usd": usd(line.high),
                        "history": line.seen,
                        "unpriced": line.worker.unpriced or None,
                        "bound": line.worker.bound or None,
                    }
                    for line in self.estimate.lines
                ],
                "subscription": [one.name for one in self.estimate.subscription],
                "local": [one.name for one in self.estimate.local],
                "unavailable": self.unavailable,
            },
            "daily_cap_usd": usd(self.cap),
            "today": None
            if self.day is None
            else {
                "metered_usd": usd(self.day.metered),
                "uncertain_usd": usd(self.day.uncertain),
                "held_usd": usd(self.day.held),
                "abandoned_usd": usd(self.day.abandoned),
            },
        }


def quote(request: Request, state: State, *, confirmed: bool) -> Quote:
    """What a new run would cost.

    Raises:
        UserError: what the request names can't be used.
    """
    selection = select(request, places.data_folder("tasks"))
    each = {one.name: len(selection.tasks) * request.each for one in selection.solvers}
    with _ledger(state) as ledger:
        return _quote(request, state, ledger, each, confirmed)


def quote_resumed(name: str, state: State, *, confirmed: bool) -> Quote | None:
    """What is left of a run would cost; None for a dry one.

    Raises:
        UserError: there is no such run, or what it names can't be used.
    """
    with _ledger(state) as ledger:
        if ledger is None:
            raise UserError(f"run {name}", "is not in this state folder", "the last ones are: none")
        run = ledger.run(name)
        request = planned(run)
        if not request.real:
            return None
        left = Counter(cell.solver for cell in ledger.pending(run.id))
        return _quote(request, state, ledger, dict(left), confirmed)


def _quote(request: Request, state: State, ledger: Ledger | None, left: dict[str, int], confirmed: bool) -> Quote:
    selection = select(request, places.data_folder("tasks"))
    asked = asked_by(request, selection, state)
    book = None if ledger is None else SpendBook(ledger, daily_cap(state))
    workers = [one.dispatches(left[name]) for name, one in asked.items() if left.get(name) and not one.unavailable]
    found = estimate(workers, book)
    return Quote(
        estimate=found,
        tasks=len(selection.tasks),
        attempts=request.each,
        decision=decide(found, real=request.real, confirmed=confirmed),
        cap=daily_cap(state),
        day=book.day() if book else None,
        unavailable={name: one.unavailable for name, one in asked.items() if one.unavailable},
    )


@contextmanager
def _ledger(state: State) -> Iterator[Ledger | None]:
    """The ledger as it is; None where there is none yet."""
    if not state.ledger.exists():
        yield None
        return
    with Ledger(state.ledger) as ledger:
        yield ledger
