"""The spend gate: what a run would cost, whether it may go, and an amount set aside before each dispatch.

One gate for everybody who costs money: solvers, judges, maintenance agents. It asks for a purpose, never for who calls.
An estimate says what may be spent, the gateway's meter what was: the two are never added or shown as one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.errors import GateError
from harness.gateway.access import Billing
from harness.money import pusd, shown
from harness.spend_book import CapReached, Purpose, SpendBook, Spent

FLAT = pusd("0.010")
"""What one dispatch is taken to cost while nothing is known of its worker."""
NEEDS = "its price ([prices] in config.toml), or a run with --budget-tokens N"
"""What a worker without a price needs before it may spend."""
HISTORY_AT_LEAST = 3
"""Finished dispatches from which on a worker's own history is taken."""


@dataclass(frozen=True)
class Worker:
    """Somebody who would be dispatched so many times.

    ``key`` is what its history is kept under: model, effort and provider included. ``budget`` is the most that one
    dispatch may cost, in picodollars. ``unpriced`` says which of its models have no price, so that nobody will know
    what it spent; empty if none. ``bound`` is what the gateway holds a dispatch to beside money, for a reader.
    """

    name: str
    key: str
    billing: Billing
    dispatches: int
    budget: int | None = None
    unpriced: str = ""
    bound: str = ""

    @property
    def held(self) -> bool:
        """Whether something holds what it spends: the daily cap, which needs prices, or a bound of its dispatches."""
        return self.billing is not Billing.API or not self.unpriced or bool(self.bound)


@dataclass(frozen=True)
class Line:
    """The estimate for one worker that is paid by the token: picodollars for one dispatch, low and high."""

    worker: Worker
    low: int
    high: int
    seen: int
    """Finished dispatches that it rests on; 0 is the flat figure."""

    @property
    def hold(self) -> int:
        """What is set aside before each dispatch: the budget, which the gateway enforces, else the high end."""
        return self.high if self.worker.budget is None else self.worker.budget


@dataclass(frozen=True)
class Estimate:
    """What a run would cost. Workers that nothing is paid for by the token are named apart and have no figure."""

    lines: tuple[Line, ...]
    subscription: tuple[Worker, ...]
    local: tuple[Worker, ...]

    @property
    def metered(self) -> bool:
        """Whether somebody pays for it, by the token or by the month."""
        return bool(self.lines or self.subscription)

    @property
    def held(self) -> bool:
        """Whether something holds what each of them spends."""
        return all(line.worker.held for line in self.lines)

    @property
    def low(self) -> int:
        """The least of all, in picodollars."""
        return sum(line.low * line.worker.dispatches for line in self.lines)

    @property
    def high(self) -> int:
        """The most of all."""
        return sum(line.high * line.worker.dispatches for line in self.lines)

    @property
    def holds(self) -> Mapping[str, int]:
        """What is set aside before a dispatch, by worker; nothing for those that are not paid by the token."""
        return {line.worker.name: line.hold for line in self.lines}


def estimate(workers: Iterable[Worker], book: SpendBook | None, purpose: Purpose = Purpose.ATTEMPT) -> Estimate:
    """What these workers would cost: by their own history where the book has some, else by the flat figure."""
    by_billing: dict[Billing, list[Worker]] = {billing: [] for billing in Billing}
    for worker in workers:
        by_billing[worker.billing].append(worker)
    return Estimate(
        lines=tuple(
            _line(worker, book.history(purpose, worker.key) if book else ()) for worker in by_billing[Billing.API]
        ),
        subscription=tuple(by_billing[Billing.SUBSCRIPTION]),
        local=tuple(by_billing[Billing.LOCAL]),
    )


def _line(worker: Worker, history: tuple[int, ...]) -> Line:
    if len(history) < HISTORY_AT_LEAST:
        low, high, seen = FLAT, FLAT, 0
    else:
        low, high, seen = min(history), max(history), len(history)
    if worker.budget is not None:
        low, high = min(low, worker.budget), min(high, worker.budget)
    return Line(worker, low, high, seen)


def told(found: Estimate, tasks: int, attempts: int) -> tuple[str, ...]:
    """An estimate for a reader, line by line."""
    lines: list[str] = []
    flat = [line for line in found.lines if not line.seen]
    whole = [line for line in flat if line.worker.dispatches == tasks * attempts and line.high == FLAT]
    if whole:
        product = tasks * attempts * len(whole) * FLAT
        lines.append(
            f"{_many(tasks, 'task')} x {_many(attempts, 'attempt')} x {_many(len(whole), 'metered worker')}"
            f" x {shown(FLAT, 3)} = {shown(product)}"
        )
    for line in found.lines:
        if line not in whole:
            count, name = line.worker.dispatches, line.worker.name
            basis = f"its last {line.seen}" if line.seen else "flat"
            lines.append(
                f"{name}: {_many(count, 'attempt')} x {_range(line.low, line.high)} ({basis})"
                f" = {_range(line.low * count, line.high * count)}"
            )
    if len(lines) > 1:
        lines.append(f"total {_range(found.low, found.high)}")
    for line in found.lines:
        if line.worker.budget is not None:
            most = line.worker.budget * line.worker.dispatches
            lines.append(f"{line.worker.name}: at most {shown(most)} by its budget")
    lines += [_unheld(line.worker) for line in found.lines if line.worker.unpriced]
    lines += [f"{one.name}: {_many(one.dispatches, 'attempt')} by subscription, unpriced" for one in found.subscription]
    lines += [f"{one.name}: {_many(one.dispatches, 'attempt')} by a local model, unmetered" for one in found.local]
    return tuple(lines)


def _unheld(worker: Worker) -> str:
    what = f"{worker.name}: {worker.unpriced}: what it spends is not known, and the daily cap can't hold it"
    if worker.bound:
        return f"{what}; each of its attempts may take {worker.bound}"
    return f"{what}; --confirm-spend needs {NEEDS}"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _range(low: int, high: int) -> str:
    return shown(low) if low == high else f"{shown(low)} to {shown(high)}"


class Decision(StrEnum):
    """What the gate says to a run."""

    DRY = "dry"
    """Nothing is asked of a provider."""
    STOP = "stop"
    """The estimate is shown, and nothing was spent."""
    DISPATCH = "dispatch"


def decide(found: Estimate, *, real: bool, confirmed: bool) -> Decision:
    """Dry is the default; what somebody pays for needs a confirmation each time, a local model needs none."""
    if not real:
        return Decision.DRY
    return Decision.DISPATCH if confirmed or not found.metered else Decision.STOP


def permit(workers: Iterable[Worker], *, confirmed: bool) -> None:
    """The gate itself, where nothing gets past it.

    Raises:
        GateError: one costs money and nobody confirmed that, or neither the daily cap nor a bound holds what it spends.
    """
    for worker in workers:
        if worker.billing is not Billing.LOCAL and not confirmed:
            raise GateError(f"solver {worker.name}", "costs money, and nothing was spent", "add --confirm-spend")
        if not worker.held:
            problem = f"{worker.unpriced}, so the daily cap can't hold what it spends; nothing was spent"
            raise GateError(f"solver {worker.name}", problem, f"it needs {NEEDS}")


class Spender:
    """Sets money aside for many threads, one dispatch at a time, and settles it from the meter."""

    def __init__(self, book: SpendBook) -> None:
        self._book = book
        self._changed = threading.Condition()
        self._under_way = 0

    def reserve(self, purpose: Purpose, worker: str, what: str, amount: int, stop: threading.Event) -> int:
        """A reservation's number. While dispatches of ours are under way, a full cap is waited on: they may settle
        for less than they hold.

        Raises:
            CapReached: there is no room, and nothing of ours is under way; or *stop* is set meanwhile.
        """
        with self._changed:
            while True:
                try:
                    number = self._book.reserve(purpose, worker, what, amount)
                except CapReached:
                    if not self._under_way or stop.is_set():
                        raise
                    self._changed.wait(timeout=0.5)
                else:
                    self._under_way += 1
                    return number

    def settle(self, number: int, spent: Spent) -> None:
        """Put what was spent in the place of a reservation."""
        with self._changed:
            self._book.settle(number, spent)
            self._over()

    def abandon(self) -> None:
        """A dispatch of ours died and nobody knows what it spent: its reservation stands."""
        with self._changed:
            self._over()

    def _over(self) -> None:
        self._under_way -= 1
        self._changed.notify_all()
