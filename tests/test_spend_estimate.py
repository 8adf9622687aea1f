"""What a run would cost, as it is said before anything is spent, and what the gate says to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.gateway.access import Billing
from harness.ledger import Ledger
from harness.money import pusd
from harness.spend import FLAT, Decision, Estimate, Worker, decide, estimate, told
from harness.spend_book import Purpose, SpendBook, Spent, exactly


def worker(name: str, billing: Billing = Billing.API, dispatches: int = 16, budget: int | None = None) -> Worker:
    return Worker(name, f"{name}|m", billing, dispatches, budget)


@pytest.fixture
def book(tmp_path: Path) -> SpendBook:
    return SpendBook(Ledger(tmp_path / "ledger.db"), pusd("100"))


def seen(book: SpendBook, key: str, *costs: str, purpose: Purpose = Purpose.ATTEMPT) -> None:
    for cost in costs:
        book.settle(book.reserve(purpose, key, "x", FLAT), exactly(pusd(cost)))


def test_the_flat_estimate_is_a_product(book: SpendBook) -> None:
    found = estimate([worker("a"), worker("b")], book)
    assert told(found, tasks=16, attempts=1) == ("16 tasks x 1 attempt x 2 metered workers x $0.010 = $0.3200",)
    assert found.low == found.high == pusd("0.32")
    assert found.holds == {"a": FLAT, "b": FLAT}


def test_subscriptions_and_local_models_stand_apart_and_have_no_figure(book: SpendBook) -> None:
    workers = [worker("a"), worker("s", Billing.SUBSCRIPTION), worker("l", Billing.LOCAL)]
    found = estimate(workers, book)
    assert told(found, tasks=16, attempts=1) == (
        "16 tasks x 1 attempt x 1 metered worker x $0.010 = $0.1600",
        "s: 16 attempts by subscription, unpriced",
        "l: 16 attempts by a local model, unmetered",
    )
    assert found.high == pusd("0.16")
    assert "s" not in found.holds and "l" not in found.holds


def test_a_worker_with_a_history_is_a_range(book: SpendBook) -> None:
    seen(book, "a|m", "0.02", "0.05")
    assert estimate([worker("a")], book).lines[0].seen == 0, "two are too few"
    seen(book, "a|m", "0.03")
    seen(book, "a|m", "9", purpose=Purpose.JUDGE)
    seen(book, "a|other", "9")
    book.settle(book.reserve(Purpose.ATTEMPT, "a|m", "x", FLAT), Spent(None, pusd("9")))
    found = estimate([worker("a", dispatches=4), worker("b", dispatches=4)], book)
    assert told(found, tasks=4, attempts=1) == (
        "4 tasks x 1 attempt x 1 metered worker x $0.010 = $0.0400",
        "a: 4 attempts x $0.0200 to $0.0500 (its last 3) = $0.0800 to $0.2000",
        "total $0.1200 to $0.2400",
    )
    assert found.holds == {"a": pusd("0.05"), "b": FLAT}


def test_a_resumed_run_is_estimated_by_what_is_left(book: SpendBook) -> None:
    found = estimate([worker("a", dispatches=3)], book)
    assert told(found, tasks=16, attempts=1) == ("a: 3 attempts x $0.0100 (flat) = $0.0300",)


def test_a_budget_bounds_the_estimate_and_is_what_is_held(book: SpendBook) -> None:
    seen(book, "a|m", "0.02", "0.05", "0.5")
    found = estimate([worker("a", budget=pusd("0.1"))], book)
    assert (found.lines[0].low, found.lines[0].high) == (pusd("0.02"), pusd("0.1"))
    assert found.holds == {"a": pusd("0.1")}
    assert told(found, 16, 1)[-1] == "a: at most $1.6000 by its budget"


@pytest.mark.parametrize(
    ("billing", "real", "confirmed", "decision"),
    [
        (Billing.API, False, False, Decision.DRY),
        (Billing.API, False, True, Decision.DRY),
        (Billing.API, True, False, Decision.STOP),
        (Billing.API, True, True, Decision.DISPATCH),
        (Billing.SUBSCRIPTION, True, False, Decision.STOP),
        (Billing.SUBSCRIPTION, True, True, Decision.DISPATCH),
        (Billing.LOCAL, True, False, Decision.DISPATCH),
        (Billing.LOCAL, False, False, Decision.DRY),
    ],
)
def test_what_the_gate_says(book: SpendBook, billing: Billing, real: bool, confirmed: bool, decision: Decision) -> None:
    assert decide(estimate([worker("a", billing)], book), real=real, confirmed=confirmed) is decision


def test_one_metered_worker_among_local_ones_asks_for_all(book: SpendBook) -> None:
    found = estimate([worker("l", Billing.LOCAL), worker("a")], book)
    assert decide(found, real=True, confirmed=False) is Decision.STOP
    assert decide(Estimate((), (), ()), real=True, confirmed=False) is Decision.DISPATCH
