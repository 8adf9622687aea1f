"""What a card says of tokens and money: it follows from the traces of every try, and verifies from the blobs alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.digest import canonical, digest, loads
from harness.errors import VerifyError
from harness.gateway.access import Billing
from harness.gateway.records import Bucket, Completeness, Fault, Provided, Usage
from harness.gateway.usage import cut, unavailable, usage
from harness.outcomes import Outcome
from harness.records import BudgetTerms, Cell, Coverage, Plan, RunMode, to_json, to_value
from harness.store import LocalStore
from harness.traffic import Exchange, Traffic
from scoring.card import Card, card_id, make_card, section_digests, write_card
from scoring.cost import DRY, View, at_least, attempt_cost, views
from scoring.evidence import Evidence, TryEvidence, used_by
from scoring.model_use import Effort
from scoring.prices import Basis, PriceTable, read_table
from scoring.report.text import make_report
from scoring.stamp import PRICES_TYPE
from scoring.verify import verify_card
from tests.card_rig import MADE, Attempt, abandoned, make_record, try_of
from tests.gateway_lines import kept, line, tokens, traffic
from tests.plans import plan

TABLE = read_table((Path(__file__).parent.parent / "prices" / "2026-11-30.json").read_bytes(), "shipped")
SONNET = "claude-3-7-sonnet-20250219"
USED = tokens(input=3, cache_write_5m=12304, output=550)
PRICE = "0.054399"
GPT = "gpt-4o"


def exchange(used: Usage = USED, model: str | None = SONNET, name: str = "r") -> Exchange:
    return Exchange(name, model, used)


# ------------------------------------------------------------------------------------------------------------- views


def by_basis(found: tuple[View, ...]) -> dict[Basis, View]:
    assert [one.basis for one in found] == list(Basis)
    return {one.basis: one for one in found}


def test_a_token_paid_by_the_token_is_an_api_estimate_and_nothing_else() -> None:
    found = by_basis(views(TABLE, [[exchange()], [], [exchange(), exchange()]], Billing.API, 2))
    estimate = found.pop(Basis.API_ESTIMATE)
    assert (estimate.usd, estimate.at_least_usd) == ("0.163197", "0.163197")
    assert (estimate.priced, estimate.of) == (3, 3)
    assert estimate.per_solved.value == "0.081598", "half to even at six places"
    assert all(one.usd is None and one.reason and one.at_least_usd is None for one in found.values())


@pytest.mark.parametrize("billing", [Billing.SUBSCRIPTION, Billing.LOCAL])
def test_what_is_not_paid_by_the_token_has_an_equivalent_and_no_estimate(billing: Billing) -> None:
    found = by_basis(views(TABLE, [[exchange()]], billing, 1))
    assert found[Basis.API_EQUIVALENT].usd == PRICE
    assert found[Basis.API_ESTIMATE].usd is None
    assert found[Basis.API_ESTIMATE].reason.startswith("unpriced")
    assert found[Basis.MARGINAL_CASH].usd is None, "not zero: unknown"
    assert found[Basis.ALLOCATED_FEE].usd is None


def test_a_dry_run_shows_no_money_at_all() -> None:
    for one in views(None, [[exchange()]], Billing.LOCAL, 1):
        assert (one.usd, one.reason, one.per_solved.value) == (None, DRY, None)


def test_nothing_solved_is_undefined_not_infinite_and_not_zero() -> None:
    found = by_basis(views(TABLE, [[exchange()]], Billing.API, 0))[Basis.API_ESTIMATE]
    assert found.usd == PRICE
    assert (found.per_solved.value, found.per_solved.reason) == (None, "nothing was solved")


@pytest.mark.parametrize(
    ("unknown", "reason", "known"),
    [
        (None, "what it used is not known", PRICE),
        ([exchange(model="nobody-knows")], "no price for nobody-knows", PRICE),
        ([exchange(model=None)], "the served model is unknown", PRICE),
        ([exchange(unavailable("the answer states no usage"))], "states no usage", PRICE),
        ([exchange(usage({Bucket.INPUT: 1000}, incomplete="cut"))], "usage_incomplete: cut", "0.054699"),
    ],
)
def test_one_part_that_is_not_known_leaves_a_lower_bound(
    unknown: list[Exchange] | None, reason: str, known: str
) -> None:
    found = by_basis(views(TABLE, [[exchange()], unknown], Billing.API, 2))[Basis.API_ESTIMATE]
    assert found.usd is None and reason in found.reason
    assert (found.at_least_usd, found.priced, found.of) == (known, 1, 2)
    assert found.per_solved.value is None
    assert found.at_least_per_solved is not None and found.at_least_per_solved.value


COUNTS = st.lists(st.integers(0, 10**6), min_size=6, max_size=6)


@settings(deadline=None)
@given(parts=st.lists(COUNTS, min_size=1, max_size=5), missing=st.sets(st.sampled_from([*Bucket][1:])))
def test_a_lower_bound_is_one(parts: list[list[int]], missing: set[Bucket]) -> None:
    """Whatever part of the figures is missing, the bound is not above what all of them cost."""
    whole = [usage(dict(zip(Bucket, counts, strict=True))) for counts in parts]
    known = [
        usage({b: None if b in missing else one.of(b) for b in Bucket}, incomplete="cut", missing="cut")
        for one in whole
    ]
    exact = attempt_cost(TABLE, [exchange(one) for one in whole], Basis.API_ESTIMATE)
    assert exact.usd is not None
    assert Decimal(at_least(TABLE, [exchange(one) for one in known])) <= Decimal(exact.usd)
    assert at_least(TABLE, [exchange(one) for one in whole]) == exact.usd


@settings(deadline=None)
@given(parts=st.lists(COUNTS, max_size=5), data=st.data())
def test_an_attempts_cost_is_the_sum_of_its_exchanges_in_any_order(parts: list[list[int]], data: st.DataObject) -> None:
    made = [exchange(usage(dict(zip(Bucket, counts, strict=True))), name=str(n)) for n, counts in enumerate(parts)]
    shuffled = data.draw(st.permutations(made))
    assert attempt_cost(TABLE, made, Basis.API_ESTIMATE) == attempt_cost(TABLE, shuffled, Basis.API_ESTIMATE)


# --------------------------------------------------------------------------------------------------------- on a card


def model_plan(mode: RunMode = RunMode.REAL, billing: str = "api") -> Plan:
    """Two solvers, the first of which reaches a model."""
    base = plan()
    first = base.solvers[0].model_copy(
        update={
            "provider": "anthropic",
            "billing": billing,
            "harness": "claude-code",
            "harness_version": "9.9",
            "model": SONNET,
            "effort_requested": "high",
        }
    )
    return base.model_copy(
        update={
            "mode": mode,
            "provider": "anthropic",
            "solvers": (first, base.solvers[1]),
            "budget": BudgetTerms(requests=50),
        }
    )


def evidence(store: LocalStore, of: Plan, seen: Mapping[Cell, list[Traffic | None]]) -> Evidence:
    """A finished run; None is a try that was abandoned, and all but the last try of a cell were errored."""
    lines: list[TryEvidence] = []
    records = {}
    for cell in of.cells():
        found = seen.get(cell, [])
        for number, one in enumerate(found or [None], 1):
            if found and one is None:
                lines.append(abandoned(cell, number))
                continue
            last = number == max(1, len(found))
            record = make_record(
                store, of, cell, number, Attempt() if last else Attempt(Outcome.ERRORED, None, kind="rate_limited")
            )
            if one is not None:
                trace = record.traces[0].model_copy(
                    update={"coverage": Coverage.FULL, "reason": "", "lines": kept(store, one)}
                )
                record = record.model_copy(update={"traces": (trace,), "traffic": one.short})
            lines.append(try_of(store, record))
            assert lines[-1].record is not None
            records[lines[-1].record.digest] = record
    table = TABLE if of.mode is RunMode.REAL else None
    if table is not None:
        store.put(to_json(table), PRICES_TYPE)
    return Evidence(of, tuple(lines), records, used=used_by(records, store), prices=table)


def one_exchange(**more: Any) -> Traffic:
    return traffic(line(used=USED, model=SONNET, effort="high"), **more)


def whole_card(folder: Path, of: Plan | None = None) -> tuple[Card, LocalStore]:
    """A model's four cells: one with a repeated try, one with an abandoned one, one cut, one plain."""
    of = of or model_plan()
    store = LocalStore(folder / "blobs")
    mine = [cell for cell in of.cells() if cell.solver == "a0"]
    retried = traffic(line(used=USED, model=SONNET), line(429, model=SONNET, fault=Fault.RATE_LIMITED))
    aborted = traffic(line(used=cut("the client left"), model=SONNET, effort="low"), line(denial="model"))
    made = evidence(
        store,
        of,
        {
            mine[0]: [retried, one_exchange(stripped={Provided.WEB_SEARCH: 2})],
            mine[1]: [None, one_exchange()],
            mine[2]: [aborted],
            mine[3]: [one_exchange(quota={"x-ratelimit-remaining": "7"})],
        },
    )
    return make_card(made, MADE), store


def test_a_card_with_money_verifies_and_says_what_was_used(tmp_path: Path) -> None:
    card, store = whole_card(tmp_path)
    assert verify_card(card.to_bytes(), store, card.id).problems == ()
    use = card.measured.solvers["a0"].model
    assert use is not None and card.measured.solvers["a1"].model is None
    assert (use.tries, use.metered, use.requests, use.denied) == (6, 5, 6, 1)
    assert use.stripped == {Provided.WEB_SEARCH: 2}
    assert use.faults == {Fault.RATE_LIMITED: 1}
    assert use.usage.completeness is Completeness.USAGE_INCOMPLETE
    assert use.usage.reason == "1 of 6 tries: 1 of 1 exchanges: the client left; 1 tries left no trace"
    assert use.usage.of(Bucket.OUTPUT) == 4 * 550, "the repeated try's tokens stay in the totals"
    assert use.quota == {"x-ratelimit-remaining": "7"}
    assert (use.effort, use.efforts_reported) == (Effort.UNCONFIRMED, ("high", "low"))
    estimate = use.costs[0]
    assert (estimate.usd, estimate.at_least_usd) == (None, "0.217596")
    assert (estimate.priced, estimate.of) == (4, 6)
    assert card.stamp.prices is not None and card.stamp.prices.table.digest == TABLE.digest
    first, cell = card.measured.cells[0], card.measured.cells[0].cost
    assert cell is not None and (cell.usd, cell.table) == (PRICE, TABLE.digest)
    assert first.traffic is not None and first.traffic.requests == 1


def test_the_core_has_nothing_of_it(tmp_path: Path) -> None:
    """Another run of the same plan with other traffic and other prices has the same core."""
    of = model_plan()
    card, _ = whole_card(tmp_path / "a", of)
    store = LocalStore(tmp_path / "b")
    other = make_card(evidence(store, of, {cell: [one_exchange()] for cell in of.cells() if cell.solver == "a0"}), MADE)
    assert other.core_digest == card.core_digest
    assert other.measured.solvers["a0"].model != card.measured.solvers["a0"].model


def test_a_dry_card_shows_tokens_and_no_money(tmp_path: Path) -> None:
    card, store = whole_card(tmp_path, model_plan(RunMode.DRY))
    assert verify_card(card.to_bytes(), store, card.id).problems == ()
    use = card.measured.solvers["a0"].model
    assert use is not None and use.usage.of(Bucket.OUTPUT) == 2200
    assert {one.reason for one in use.costs} == {DRY}
    assert card.stamp.prices is None
    assert all(one.cost is None for one in card.measured.cells)
    shown = report_text(card)
    assert "$" not in shown and "models, over all tries" in shown
    assert "mode dry, provider anthropic" in shown


def report_text(card: Card) -> str:
    report = make_report(card)
    rows = [" | ".join(row) for table in report.tables for row in ((table.title,), table.columns, *table.rows)]
    return "\n".join([*report.head, *rows, *report.notes])


def test_the_report_says_it_all_and_marks_what_is_a_bound(tmp_path: Path) -> None:
    shown = report_text(whole_card(tmp_path)[0])
    assert "mode real, provider anthropic" in shown
    row = f"a0 | claude-code 9.9 | anthropic (api) | {SONNET} | high (unconfirmed) | 6 (1 denied)"
    assert f"{row} | ≥12 | ≥0 | ≥49216 | ≥2200" in shown
    assert "a0 | api_estimate | ≥$0.0544 | ≥$0.2176 | 4/6" in shown
    assert "a0: taken out of requests: web_search 2" in shown
    assert "a0: provider faults: rate_limited 1" in shown
    assert f"list prices of {TABLE.date} ({TABLE.digest})" in shown
    assert "budget of each attempt: 50 requests" in shown
    assert "effort labels of different vendors are not comparable" in shown


def test_subscriptions_stand_apart(tmp_path: Path) -> None:
    shown = report_text(whole_card(tmp_path, model_plan(billing="subscription"))[0])
    assert "money, by subscription" in shown and "a0 | api_equivalent" in shown
    assert "\nmoney\n" not in shown
    assert "a0: quota: x-ratelimit-remaining 7" in shown


# -------------------------------------------------------------------------------------------------- what verify notices


def restamped(card: Card, change: Any) -> bytes:
    value = loads(card.to_bytes())
    change(value)
    value["core_digest"] = digest(value["core"])
    value["sections"] = section_digests(value)
    return canonical({**value, "id": card_id(value)})


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda v: v["measured"]["solvers"]["a0"]["model"].update(requests=1), "measured.solvers.a0.model.requests"),
        (lambda v: v["measured"]["solvers"]["a0"]["model"]["usage"].update(output=1), "model.usage.output"),
        (lambda v: v["measured"]["cells"][0]["cost"].update(usd="0.01"), "measured.cells[0].cost.usd"),
        (lambda v: v["measured"]["cells"][0]["traffic"].update(denied=3), "measured.cells[0].traffic.denied"),
        (lambda v: v["stamp"].pop("prices"), "measured"),
    ],
)
def test_edited_figures_are_named_although_every_digest_was_recomputed(tmp_path: Path, change: Any, named: str) -> None:
    card, store = whole_card(tmp_path)
    problems = verify_card(restamped(card, change), store).problems
    assert problems and named in problems[0]


def test_another_price_table_is_not_taken_for_the_stated_one(tmp_path: Path) -> None:
    card, store = whole_card(tmp_path)
    assert card.stamp.prices is not None
    store.delete(card.stamp.prices.table.digest)
    assert "price table" in verify_card(card.to_bytes(), store).problems[0]


def test_a_trace_that_says_something_else_than_its_record_is_noticed(tmp_path: Path) -> None:
    of = model_plan()
    store = LocalStore(tmp_path)
    cell = of.cells()[0]
    lying = Traffic(one_exchange().short, traffic(line(used=tokens(output=1), model=SONNET)).lines)
    record = make_record(store, of, cell, 1, Attempt())
    trace = record.traces[0].model_copy(update={"coverage": Coverage.FULL, "reason": "", "lines": kept(store, lying)})
    record = record.model_copy(update={"traces": (trace,), "traffic": lying.short})
    with pytest.raises(VerifyError, match="what its trace does not"):
        used_by({"sha256:x": record}, store)


def test_the_bodies_behind_a_trace_are_among_what_a_card_needs(tmp_path: Path) -> None:
    of = model_plan()
    store = LocalStore(tmp_path)
    body = store.put(b'{"model": "m"}', "application/json")
    seen = traffic({**line(used=USED, model=SONNET), "sent": body})
    card = make_card(evidence(store, of, {of.cells()[0]: [seen]}), MADE)
    assert verify_card(card.to_bytes(), store).problems == ()
    store.delete(body.digest)
    assert "sent of a0/t0/1 try 1" in verify_card(card.to_bytes(), store).problems[0]


# ------------------------------------------------------------------------------------------------------- older cards


def test_a_card_without_models_has_the_bytes_that_it_had(tmp_path: Path) -> None:
    """Cards from before there was a gateway load, verify and keep their digests: nothing new stands in them."""
    of = plan()
    value = to_value(of)
    assert "budget" not in value and "provider" not in value["solvers"][0]
    store = LocalStore(tmp_path / "blobs")
    card = make_card(evidence(store, of.model_copy(update={"mode": RunMode.DRY}), {}), MADE)
    text = card.to_bytes()
    for key in (b'"budget"', b'"billing"', b'"prices"', b'"traffic"', b'"model":{', b'"cost"'):
        assert key not in text
    write_card(tmp_path / "cards", card)
    assert verify_card(text, store, card.id).problems == ()
    for one in card.stamp.evidence:
        assert one.record is not None
        assert b'"traffic"' not in store.get(one.record.digest)


def test_prices_are_read_back_as_they_were(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    blob = store.put(to_json(TABLE), PRICES_TYPE)
    assert blob.digest == TABLE.digest
    assert PriceTable.model_validate(loads(store.get(blob.digest))) == TABLE
