"""Models without a price: the daily cap can't hold them, so something else must, and the estimate says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import GateError, UserError
from harness.gateway.access import Billing
from harness.gateway.records import Fault
from harness.gateway.usage import cut
from harness.money import pusd
from harness.records import Coverage
from harness.spend import FLAT, Worker, estimate, permit, told
from harness.spend_book import Spent, exactly
from harness.state import State
from harness.store import LocalStore
from scoring.prices import LongContext, Price, PriceTable, Rates, read_table
from tests.card_rig import Attempt, make_record
from tests.gateway_lines import kept, line, tokens, traffic
from tests.plans import plan
from trialbox.pricing import cost_cap, meter, unpriced
from trialbox.settings import price_table

SHIPPED = max((Path(__file__).parent.parent / "prices").glob("*.json"))
MISSING = "no price for m (prices of 2026-01-02)"
NEEDS = "its price ([prices] in config.toml), or a run with --budget-tokens N"


def table(long: LongContext | None = None) -> PriceTable:
    """``known`` costs a dollar a million in and ten out; what is read from a cache has no rate."""
    sources = dict.fromkeys(("input", "output", *(("long_context",) if long else ())), "made up")
    one = Price(
        provider="p", models=("known",), rates=Rates(input="1", output="10"), long_context=long, sources=sources
    )
    return PriceTable(schema_version=1, date="2026-01-02", unit="USD per million tokens", note="", prices=(one,))


def worker(billing: Billing = Billing.API, bound: str = "", missing: str = MISSING) -> Worker:
    return Worker("a", "a m", billing, 4, unpriced=missing, bound=bound)


def test_each_model_without_a_price_is_named() -> None:
    long = table(LongContext(above=100, rates=None))
    assert unpriced(table(), ("known",)) == ""
    assert unpriced(table(), ("m", "known", "n")) == "no price for m, n (prices of 2026-01-02)"
    said = "no price for m and no rates for long requests to known (prices of 2026-01-02)"
    assert unpriced(long, ("known", "m")) == said
    with pytest.raises(UserError, match="--budget-usd: no price for m"):
        cost_cap(table(), ("known", "m"), 1)


def test_the_estimate_names_what_the_cap_cannot_hold_and_what_does() -> None:
    first, second = told(estimate([worker()], None), tasks=4, attempts=1)
    assert first == "4 tasks x 1 attempt x 1 metered worker x $0.010 = $0.0400"
    assert (
        second
        == f"a: {MISSING}: what it spends is not known, and the daily cap can't hold it; --confirm-spend needs {NEEDS}"
    )
    bounded = estimate([worker(bound="5 requests")], None)
    assert told(bounded, 4, 1)[-1].endswith("can't hold it; each of its attempts may take 5 requests")
    assert bounded.held and not estimate([worker()], None).held
    assert bounded.holds == {"a": FLAT}


def test_nothing_without_a_price_is_dispatched_unless_it_is_bounded() -> None:
    with pytest.raises(GateError) as caught:
        permit([worker(missing=""), worker()], confirmed=True)
    assert caught.value.exit_code == 4
    expected = f"solver a: {MISSING}, so the daily cap can't hold what it spends; nothing was spent; it needs {NEEDS}"
    assert str(caught.value) == expected
    with pytest.raises(GateError, match="add --confirm-spend"):
        permit([worker(bound="5 tokens")], confirmed=False)
    permit([worker(bound="5 tokens"), worker(Billing.SUBSCRIPTION), worker(missing="")], confirmed=True)
    permit([worker(Billing.LOCAL)], confirmed=False)


def spent(folder: Path, *lines: dict[str, Any]) -> Spent:
    """What an attempt with these exchanges cost."""
    store, of, seen = LocalStore(folder / "blobs"), plan(1, 1, 1), traffic(*lines)
    record = make_record(store, of, of.cells()[0], 1, Attempt())
    web = record.traces[0].model_copy(update={"coverage": Coverage.FULL, "reason": "", "lines": kept(store, seen)})
    return meter(table(), store)(record.model_copy(update={"traffic": seen.short, "traces": (web,)}))


def served(name: str | None, **counts: int) -> dict[str, Any]:
    """An exchange that asks for ``known`` and is served by another name."""
    made = line(model="known", used=tokens(**counts))
    return made | {"answer": made["answer"].model_copy(update={"model": name})}


MILLION = 10**6


@pytest.mark.parametrize(
    ("lines", "cost"),
    [
        ([served("known", input=MILLION, output=MILLION)], exactly(pusd("11"))),
        ([served("known-2026-01-01", input=MILLION, output=MILLION)], Spent(None, pusd("11"))),
        ([served(None, output=MILLION)], Spent(None, pusd("10"))),
        ([served("known", cache_read=MILLION)], Spent(None, pusd("1"))),
        ([served("known", input=MILLION), served("known", input=1, cache_read=MILLION)], Spent(None, pusd("2.000001"))),
        ([line(model="m", used=tokens(input=MILLION))], Spent(None, 0)),
    ],
    ids=["known", "a dated name", "no name", "no rate of its own", "known in part", "no price at all"],
)
def test_what_is_not_known_to_the_end_counts_at_the_highest_rates(
    tmp_path: Path, lines: list[dict[str, Any]], cost: Spent
) -> None:
    assert spent(tmp_path, *lines) == cost


def test_an_answer_that_was_cut_counts_with_what_it_stated(tmp_path: Path) -> None:
    lost = line(model="known", used=cut("cut"), fault=Fault.CUT_STREAM)
    assert spent(tmp_path, served("known", input=MILLION), lost) == Spent(None, pusd("1"))


@pytest.mark.parametrize(
    "models",
    [
        ("claude-opus-5-5", "claude-haiku-4-5-20251001", "claude-haiku-5-5"),
        ("gpt-6.2-sol",),
        ("claude-opus-5",),
        ("claude-opus-4-5-20251101",),
    ],
)
def test_the_shipped_table_has_what_these_agents_ask_by_default(models: tuple[str, ...], tmp_path: Path) -> None:
    path = price_table(State(tmp_path), SHIPPED.parent)
    assert path == SHIPPED
    assert unpriced(read_table(path.read_bytes(), "shipped"), models) == ""
