"""Costs by dated tables: exact, cache-aware, and unpriced with a reason where a figure is missing."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from harness.errors import UserError
from harness.gateway.meter import Meter
from harness.gateway.records import Api, Bucket
from harness.gateway.usage import cut, openai_usage, unavailable, usage
from harness.gateway.wire import reading
from scoring.prices import Basis, Cost, LongContext, Price, PriceTable, Rates, per_solved, price, read_table, total

SHIPPED = sorted((Path(__file__).parent.parent / "prices").glob("*.json"))


def table(rates, long_context=None):
    given_rates = Rates.model_validate(rates)
    sources = {bucket.value: "test" for bucket in Bucket if getattr(given_rates, bucket.value) is not None}
    sources |= {"long_context": "test"} if long_context else {}
    one = Price(provider="p", models=("m",), rates=given_rates, long_context=long_context, sources=sources)
    return PriceTable(schema_version=1, date="2026-01-02", unit="USD per million tokens", note="", prices=(one,))


def tokens(**counts):
    return usage(dict.fromkeys(Bucket, 0) | {Bucket(name): value for name, value in counts.items()})


def metered(api, body):
    one = Meter(reading(api))
    one.feed(json.dumps(body).encode())
    return one.close().usage


SONNET = {"input": "3", "cache_read": "0.3", "cache_write_5m": "3.75", "cache_write_1h": "6", "output": "15"}

VECTORS = [
    pytest.param(
        SONNET,
        metered(
            Api.ANTHROPIC,
            {
                "usage": {
                    "input_tokens": 3,
                    "cache_creation_input_tokens": 12304,
                    "cache_read_input_tokens": 0,
                    "cache_creation": {"ephemeral_5m_input_tokens": 12304, "ephemeral_1h_input_tokens": 0},
                    "output_tokens": 550,
                }
            },
        ),
        "0.054399",
        id="writes are not billed twice (0.091311)",
    ),
    pytest.param(
        SONNET, tokens(input=100, cache_write_5m=700, cache_read=200), "0.002985", id="cache is not added again"
    ),
    pytest.param(
        {"input": "0.8", "cache_read": "0.08", "output": "4"},
        metered(
            Api.ANTHROPIC,
            {
                "usage": {
                    "input_tokens": 4,
                    "cache_read_input_tokens": 2455,
                    "cache_creation_input_tokens": 0,
                    "output_tokens": 23,
                }
            },
        ),
        "0.0002916",
        id="reads are cheap (0.002059)",
    ),
    pytest.param(
        {"input": "5", "cache_read": "0.5", "cache_write_5m": "6.25", "output": "25"},
        openai_usage(
            {
                "prompt_tokens": 98805,
                "completion_tokens": 5120,
                "total_tokens": 103925,
                "prompt_tokens_details": {"cached_tokens": 66360, "cache_creation_tokens": 32435},
                "completion_tokens_details": {"reasoning_tokens": 1710},
            },
            "prompt_tokens",
            "completion_tokens",
        ),
        "0.36394875",
        id="cached and written are inside the prompt",
    ),
    pytest.param(
        {"input": "2.5", "cache_read": "1.25", "output": "10"},
        metered(
            Api.CHAT,
            {
                "choices": [],
                "usage": {
                    "prompt_tokens": 1000,
                    "completion_tokens": 200,
                    "total_tokens": 1200,
                    "prompt_tokens_details": {"cached_tokens": 600},
                },
            },
        ),
        "0.00375",
        id="OpenAI's cached part is inside the prompt",
    ),
    pytest.param(
        {"input": "1.25", "output": "10"},
        metered(
            Api.GEMINI,
            {
                "usageMetadata": {
                    "promptTokenCount": 15,
                    "candidatesTokenCount": 359,
                    "thoughtsTokenCount": 661,
                    "totalTokenCount": 1035,
                }
            },
        ),
        "0.01021875",
        id="Gemini's thoughts are output",
    ),
]


@pytest.mark.parametrize(("rates", "used", "usd"), VECTORS)
def test_known_costs(rates, used, usd):
    cost = price(table(rates), "m", used)
    assert (cost.usd, cost.reason) == (usd, "")
    assert sum(Decimal(part) for part in cost.parts.values()) == Decimal(usd)


def test_the_vectors_of_uncached_tokens_and_of_thoughts():
    assert VECTORS[3].values[1].input == 10
    gemini = VECTORS[5].values[1]
    assert gemini.output + gemini.reasoning == 1020


def test_an_hour_costs_eight_fifths_of_five_minutes():
    short = price(table(SONNET), "m", tokens(cache_write_5m=1000, output=0))
    long = price(table(SONNET), "m", tokens(cache_write_1h=1000, output=0))
    assert Decimal(long.usd) / Decimal(short.usd) == Decimal("1.6")


def test_above_the_tier_the_whole_request_costs_more():
    long = LongContext(above=200_000, rates=Rates(input="6", cache_read="0.6", cache_write_1h="12", output="22.5"))
    one = table(SONNET, long)
    at = price(one, "m", tokens(input=100_000, cache_read=100_000, output=10))
    over = price(one, "m", tokens(input=100_000, cache_read=100_000, cache_write_1h=1, output=10))
    assert (at.usd, at.long_context) == ("0.33015", False)
    assert (over.usd, over.long_context) == ("0.660237", True)
    assert not price(one, "m", tokens(input=200_000, output=10_000)).long_context, "output does not count"


def test_a_tier_without_rates_is_unpriced_above_it_only():
    one = table({"input": "1.25", "output": "10"}, LongContext(above=200_000, rates=None))
    assert price(one, "m", tokens(input=200_000)).usd == "0.25"
    assert price(one, "m", tokens(input=200_001)).reason == "unpriced: no rates for m above 200000 prompt tokens"


@pytest.mark.parametrize(
    ("model", "used", "reason"),
    [
        ("other", tokens(input=1), "no price for other (prices of 2026-01-02)"),
        ("M", tokens(input=1), "no price for M"),
        (None, tokens(input=1), "the served model is unknown"),
        ("m", cut("the answer ended early"), "usage_incomplete: the answer ended early"),
        ("m", unavailable("the answer states no usage"), "unavailable: the answer states no usage"),
        ("m", tokens(input=1, cache_write_1h=1), "no cache_write_1h rate for m"),
        ("m", usage({Bucket.INPUT: 10, Bucket.OUTPUT: 1}), "cache_read has a rate of its own and the answer"),
    ],
)
def test_what_is_not_known_is_unpriced_and_says_why(model, used, reason):
    cost = price(table({"input": "3", "cache_read": "0.3", "output": "15"}), model, used)
    assert cost.usd is None
    assert cost.reason.startswith(f"unpriced: {reason}")


def test_what_is_inside_a_bucket_at_the_same_rate_is_priced():
    assert (
        price(table({"input": "1", "output": "2"}), "m", usage({Bucket.INPUT: 10, Bucket.OUTPUT: 1})).usd == "0.000012"
    )


def test_reasoning_may_have_a_rate_of_its_own():
    one = table({"input": "0", "output": "10", "reasoning": "20"})
    assert price(one, "m", tokens(output=1, reasoning=2)).usd == "0.00005"
    assert price(one, "m", usage(dict.fromkeys([b for b in Bucket if b is not Bucket.REASONING], 1))).usd is None


def test_zero_is_a_price():
    assert price(table({"input": "0", "output": "0"}), "m", tokens(input=10**9, output=10**9)).usd == "0"


@given(
    counts=st.lists(st.integers(0, 2**40), min_size=6, max_size=6),
    rates=st.lists(st.decimals(0, 999999, places=6), min_size=6, max_size=6),
)
def test_costs_are_exact(counts, rates):
    named = dict(zip((bucket.value for bucket in Bucket), (format(rate, "f") for rate in rates), strict=True))
    used = usage(dict(zip(Bucket, counts, strict=True)))
    expected = sum(count * int(rate * 10**6) for count, rate in zip(counts, rates, strict=True))
    assert int(Decimal(price(table(named), "m", used).usd).scaleb(12)) == expected


@given(parts=st.lists(st.integers(0, 10**9), min_size=1, max_size=6))
def test_a_sum_is_exact_and_order_free(parts):
    costs = [price(table(SONNET), "m", tokens(input=part, output=1)) for part in parts]
    summed = total(costs)
    assert summed == total(reversed(costs))
    assert Decimal(summed.usd) == sum(Decimal(one.usd) for one in costs)
    assert sum(Decimal(part) for part in summed.parts.values()) == Decimal(summed.usd)


def test_one_unpriced_cost_leaves_the_sum_unpriced():
    good = price(table(SONNET), "m", tokens(input=1))
    summed = total([good, price(table(SONNET), "x", tokens(input=1))])
    assert (summed.usd, summed.reason[:23]) == (None, "1 of 2 have no cost: un")
    assert total([]).usd is None


def test_views_are_never_added():
    paid, same = (
        price(table(SONNET), "m", tokens(input=1), basis) for basis in (Basis.API_ESTIMATE, Basis.API_EQUIVALENT)
    )
    with pytest.raises(ValueError, match="never added"):
        total([paid, same])


def test_cost_per_solved_counts_failures_and_is_undefined_at_none():
    spent = Cost(usd="0.05")
    assert per_solved(spent, 3).value == "0.016667"
    assert per_solved(spent, 0).reason == "nothing was solved"
    assert per_solved(Cost(usd=None, reason="unpriced: x"), 2).reason == "unpriced: x"
    with pytest.raises(ValidationError):
        Cost(usd=None)


# ------------------------------------------------------------------------------------------------------------ the files


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_tables_are_dated_and_sourced(path):
    shipped = read_table(path.read_bytes(), path.name)
    assert path.name == f"{shipped.date}.json"
    for one in shipped.prices:
        rates = one.rates
        if one.provider == "anthropic":
            base = Decimal(rates.input)
            assert Decimal(rates.cache_read) in {base / 10, base / 20}, "Opus 5.5 reads at half the usual share"
            assert Decimal(rates.cache_write_5m) == base * 5 / 4
            assert Decimal(rates.cache_write_1h) == base * 2


def test_a_shipped_table_never_changes_what_a_card_named():
    digests = {path.name: read_table(path.read_bytes(), path.name).digest for path in SHIPPED}
    assert digests == {
        "2026-11-30.json": "sha256:ea270547c32103ae4a826c6f3a12f9ddfc0b533710935815114dcd6fc5c88dd7",
        "2026-12-01.json": "sha256:b70fc0fc835534ced62fc4142751acfb97b04edb453d0b9dd32809e20ed543d1",
    }, "a shipped table is never edited: add one of a newer date"


def test_tables_are_shipped_with_the_package():
    import tomllib

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]["prices"] == "trialbox_data/prices"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda one: one["prices"][0]["rates"].update(input=3), "rates.input"),
        (lambda one: one["prices"][0]["rates"].update(input="-3"), "rates.input"),
        (lambda one: one["prices"][0]["rates"].update(input="1e3"), "rates.input"),
        (lambda one: one["prices"][0]["sources"].pop("input"), "sources are needed"),
        (lambda one: one["prices"].append(one["prices"][0]), "two prices for"),
        (lambda one: one.update(unit="EUR"), "unit"),
        (lambda one: one.update(surprise=1), "surprise"),
    ],
)
def test_a_wrong_table_names_file_field_and_remedy(change, names):
    value = json.loads(SHIPPED[0].read_bytes())
    change(value)
    with pytest.raises(UserError, match=names) as caught:
        read_table(json.dumps(value).encode(), "mine.json")
    assert "mine.json" in str(caught.value) and "docs/gateway.md" in str(caught.value)


@pytest.mark.parametrize("text", [b"", b"[]", b'{"date": 1, "date": 2}', b"\xff"])
def test_what_is_no_table_is_a_users_mistake(text):
    with pytest.raises(UserError, match=r"mine\.json"):
        read_table(text, "mine.json")


def test_the_documented_table_is_one():
    page = (Path(__file__).parent.parent / "docs" / "gateway.md").read_text()
    example = page.partition("```json\n")[2].partition("```")[0]
    assert read_table(example.encode(), "docs/gateway.md").find("model-1-20260101") is not None
