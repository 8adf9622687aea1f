"""What agents say of their own use: read from each form, shown beside the gateway's figures, and in none of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evidence import AttemptRecord, SelfReported
from harness.gateway.records import AttemptTraffic, Bucket
from harness.gateway.usage import cut, usage
from harness.solvers.agent import TranscriptKind
from harness.store import LocalStore
from harness.trajectories.account import NOTHING, account
from scoring.own_account import own_account
from scoring.prices import Basis, Cost
from tests.agents_samples import AIDER, CLAUDE, SAMPLES
from tests.card_rig import Attempt, make_record
from tests.plans import plan

APART = {Bucket.INPUT: 2000, Bucket.CACHE_READ: 400, Bucket.OUTPUT: 160, Bucket.REASONING: 40}
LUMPED = {Bucket.INPUT: 2060, Bucket.CACHE_READ: 400, Bucket.OUTPUT: 200}
EACH = {
    TranscriptKind.CLAUDE: ({**LUMPED, Bucket.INPUT: 2000, Bucket.CACHE_WRITE_5M: 60}, None),
    TranscriptKind.CODEX: (
        {Bucket.INPUT: 2060, Bucket.CACHE_READ: 400, Bucket.OUTPUT: 160, Bucket.REASONING: 40},
        None,
    ),
    TranscriptKind.GEMINI: (
        {Bucket.INPUT: 2060, Bucket.CACHE_READ: 400, Bucket.OUTPUT: 160, Bucket.REASONING: 40},
        None,
    ),
    TranscriptKind.OPENCODE: ({**APART, Bucket.CACHE_WRITE_5M: 60}, "0.008"),
    TranscriptKind.QWEN: (LUMPED, None),
    TranscriptKind.MINI: (LUMPED, "0.008"),
    TranscriptKind.AIDER: ({Bucket.INPUT: 3000, Bucket.OUTPUT: 825}, None),
}


@pytest.mark.parametrize("kind", list(TranscriptKind))
def test_each_form_gives_what_it_sets_apart(kind: TranscriptKind) -> None:
    found = account(kind, SAMPLES[kind], b"")
    tokens, usd = EACH[kind]
    assert (found.tokens, found.usd) == (tokens, usd)
    assert ("it states no cost" in found.reason) is (usd is None)
    assert account(kind, b"", b"") == SelfReported(tokens={}, usd=None, reason=NOTHING)


def test_claude_s_last_word_is_the_session_s_and_with_side_models() -> None:
    one = {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 2, "cacheCreationInputTokens": 9}
    long = {**one, "cacheCreationEphemeral1hInputTokens": 4, "thinkingTokens": 3}
    models = {"modelUsage": {"m": one, "side": long}}
    expected = {
        Bucket.INPUT: 20,
        Bucket.CACHE_READ: 4,
        Bucket.CACHE_WRITE_5M: 14,
        Bucket.CACHE_WRITE_1H: 4,
        Bucket.OUTPUT: 7,
        Bucket.REASONING: 3,
    }
    state = json.dumps({"type": "cost-state", "totalCostUSD": 0.1 + 0.2, **models}).encode()
    printed = json.dumps({"type": "result", "total_cost_usd": 7, **models}).encode()
    for log, out, usd in ((CLAUDE + state, printed, "0.3"), (CLAUDE, printed, "7"), (b"", printed, "7")):
        found = account(TranscriptKind.CLAUDE, log, out)
        assert (found.tokens, found.usd, found.reason) == (expected, usd, "")


def test_codex_s_running_total_counts_once() -> None:
    def total(number: int) -> bytes:
        said = {"input_tokens": number, "cached_input_tokens": 1, "output_tokens": 2, "reasoning_output_tokens": 2}
        info = {"total_token_usage": said, "last_token_usage": said}
        return json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}}).encode() + b"\n"

    found = account(TranscriptKind.CODEX, total(3) + total(7) + b'{"payload": {"info": null}}\n', b"")
    assert found.tokens == {Bucket.INPUT: 6, Bucket.CACHE_READ: 1, Bucket.OUTPUT: 0, Bucket.REASONING: 2}


@pytest.mark.parametrize("kind", [TranscriptKind.GEMINI, TranscriptKind.QWEN])
@pytest.mark.parametrize(("total", "output"), [(120, 15), (125, 20)])
def test_thoughts_are_inside_the_answer_where_the_total_says_so(kind: TranscriptKind, total: int, output: int) -> None:
    tokens = {"prompt": 100, "cached": 30, "candidates": 20, "thoughts": 5, "total": total}
    told = {"type": "result", "stats": {"models": {"m": {"tokens": tokens}}}}
    printed = json.dumps([{"type": "system"}, told] if kind is TranscriptKind.QWEN else told).encode()
    found = account(kind, SAMPLES[kind], printed)
    assert found.tokens == {Bucket.INPUT: 70, Bucket.CACHE_READ: 30, Bucket.OUTPUT: output, Bucket.REASONING: 5}


def test_aider_s_counts_are_rounded_and_its_cost_is_the_session_s() -> None:
    more = b"> Tokens: 1.5k sent, 2k cache write, 300 cache hit, 40 received. Cost: $0.08 message, $0.18 session.  \n"
    found = account(TranscriptKind.AIDER, AIDER + more, b"")
    sums = {Bucket.INPUT: 4500, Bucket.CACHE_READ: 300, Bucket.CACHE_WRITE_5M: 2000, Bucket.OUTPUT: 865}
    assert (found.tokens, found.usd, found.reason) == (sums, "0.18", "rounded by the agent")


@given(st.sampled_from(list(TranscriptKind)), st.binary(max_size=300), st.data())
def test_nothing_that_an_agent_writes_breaks_it(kind: TranscriptKind, noise: bytes, data: st.DataObject) -> None:
    whole = SAMPLES[kind]
    at = data.draw(st.integers(0, len(whole)))
    for log, out in ((noise, noise), (whole[:at] + noise + whole[at:], noise), (noise, whole)):
        assert SelfReported.model_validate_json(account(kind, log, out).model_dump_json())


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@given(st.sampled_from(list(TranscriptKind)), st.data())
def test_no_value_anywhere_breaks_it(kind: TranscriptKind, data: st.DataObject) -> None:
    """Each figure of a log in turn is something else."""
    texts = SAMPLES[kind].decode().replace("1000", "@").replace("1230", "@").replace("0.004", "@").split("@")
    values = [json.dumps(data.draw(VALUES)) for _ in texts[1:]]
    changed = texts[0] + "".join(value + rest for value, rest in zip(values, texts[1:], strict=True))
    found = account(kind, changed.encode(), b"")
    assert SelfReported.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize("amount", [-1, 1e300, float("inf"), True, "1", 10**6])
def test_a_cost_that_is_none_is_none(amount: object) -> None:
    state = json.dumps({"type": "cost-state", "totalCostUSD": amount, "modelUsage": {"m": {"inputTokens": 1}}})
    assert account(TranscriptKind.CLAUDE, state.encode(), b"").usd is None


# -------------------------------------------------------------------------------------------------------- on a card

TRAFFIC = AttemptTraffic(
    requests=2,
    denied=0,
    stripped={},
    retries=0,
    usage=usage({Bucket.INPUT: 100, Bucket.OUTPUT: 20}),
    requested_models=(),
    served_models=(),
    efforts=(),
    last_line=None,
)
OWN = SelfReported(tokens={Bucket.INPUT: 480, Bucket.OUTPUT: 120}, usd="0.02")


def attempt(folder: Path, own: SelfReported | None, traffic: AttemptTraffic | None = TRAFFIC) -> AttemptRecord:
    of = plan(1, 1, 1)
    record = make_record(LocalStore(folder), of, of.cells()[0], 1, Attempt())
    assert record.solve is not None
    solve = record.solve.model_copy(update={"self_reported": own})
    return record.model_copy(update={"solve": solve, "traffic": traffic})


def test_it_stands_beside_the_gateway_s_figures_with_the_ratio(tmp_path: Path) -> None:
    cost = Cost(usd="0.004", basis=Basis.API_ESTIMATE)
    found = own_account(attempt(tmp_path, OWN), cost)
    assert found is not None
    assert (found.agent, found.tokens_ratio.value, found.usd_ratio.value) == (OWN, "5.000000", "5.000000")
    assert own_account(attempt(tmp_path, None), cost) is None


@pytest.mark.parametrize(
    ("own", "usage_is", "cost", "tokens", "dollars"),
    [
        (SelfReported(tokens={}, usd=None, reason=NOTHING), None, None, "states no tokens", "states no cost"),
        (OWN, cut("cut"), None, "tokens are not complete", "nothing is priced here"),
        (OWN, usage(dict.fromkeys(Bucket, 0)), Cost(usd="0", basis=Basis.API_ESTIMATE), "saw none", "saw none"),
        (OWN, None, Cost(usd=None, reason="unpriced", basis=Basis.API_ESTIMATE), "", "cost is unknown: unpriced"),
    ],
)
def test_where_there_is_nothing_to_compare_the_reason_stands(
    tmp_path: Path, own: SelfReported, usage_is: object, cost: Cost | None, tokens: str, dollars: str
) -> None:
    traffic = TRAFFIC if usage_is is None else TRAFFIC.model_copy(update={"usage": usage_is})
    found = own_account(attempt(tmp_path, own, traffic), cost)
    assert found is not None
    assert tokens in found.tokens_ratio.reason and bool(tokens) is bool(found.tokens_ratio.reason)
    assert dollars in found.usd_ratio.reason
