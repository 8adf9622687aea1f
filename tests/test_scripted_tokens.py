"""What the scripted provider puts on the wire, read back by the gateway's own meter: the same buckets, always."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.gateway.records import Api, Bucket, Completeness
from harness.gateway.scripted import formats
from harness.gateway.scripted.answer import Answer
from harness.gateway.scripted.asked import Call
from harness.gateway.scripted.plan import Step
from harness.gateway.scripted.script import Tokens
from harness.gateway.scripted.tokens import truth
from tests import scripted_rig as rig

COUNTS = st.integers(0, 10**9)
TOKENS = st.builds(
    Tokens,
    input=COUNTS,
    cache_read=COUNTS,
    cache_write_5m=COUNTS,
    cache_write_1h=COUNTS,
    output=COUNTS,
    reasoning=COUNTS,
)
STEPS = st.builds(
    Step,
    turn=st.just(0),
    part=st.just(0),
    say=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    think=st.sampled_from(["", "hm", "a thought \u2028 of\r\nlines"]),
    calls=st.lists(
        st.builds(Call, st.just("Bash"), st.just({"command": 'echo "{[,]}"'}), id=st.just("s0p0n0k0")), max_size=2
    ).map(tuple),
)
SHAPES = [(False, True), (True, True), (True, False)]
"""Streamed or not, as events or as a JSON array (Gemini alone makes a difference)."""


def answer(tokens, step):
    return Answer(id="abc000001", model=rig.MODEL, step=step, tokens=tokens, created=1, thinks=True)


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize(("stream", "events"), SHAPES)
@settings(deadline=None, max_examples=40)
@given(tokens=TOKENS, step=STEPS)
def test_the_meter_reads_the_truth(api, stream, events, tokens, step):
    asked = rig.read(api, rig.body_of(api, "do it", stream=stream), stream=stream, events=events)
    found = rig.metered(api, rig.wire_bytes(api, answer(tokens, step), asked))
    assert found.usage == truth(api, tokens)
    assert found.usage.completeness is Completeness.COMPLETE
    assert found.model == rig.MODEL
    assert found.request_id.endswith("abc000001")
    assert not found.refused and found.error is None and found.finish


@pytest.mark.parametrize("api", Api)
@settings(deadline=None, max_examples=40)
@given(tokens=TOKENS)
def test_no_token_is_lost_whatever_a_format_can_say(api, tokens):
    found = truth(api, tokens)
    assert found.stated == sum(tokens.of(bucket) for bucket in Bucket)
    assert found.provider_total in {None, found.stated}


@pytest.mark.parametrize("api", Api)
@settings(deadline=None, max_examples=40)
@given(tokens=TOKENS, cut=st.floats(0, 0.999))
def test_a_stream_that_is_cut_is_at_most_the_truth(api, tokens, cut):
    asked = rig.read(api, rig.body_of(api, "do it", stream=True), stream=True)
    whole = rig.wire_bytes(api, answer(tokens, Step(0, 0, "some words that are said")), asked)
    found = rig.metered(api, whole[: int(len(whole) * cut)])
    if found.usage.completeness is Completeness.COMPLETE:
        # Only what follows the usage is missing: a blank line, or the stream's own end mark.
        assert found.usage == truth(api, tokens)
    else:
        assert all((found.usage.of(bucket) or 0) <= (truth(api, tokens).of(bucket) or 0) for bucket in Bucket)


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("share", [0, 0.25, 0.5, 0.75])
def test_a_stream_that_lacks_its_usage_is_incomplete(api, share):
    asked = rig.read(api, rig.body_of(api, "do it", stream=True), stream=True)
    events = formats.events(api, answer(Tokens(input=5, output=6), Step(0, 0, "words " * 40)), asked)
    found = rig.metered(api, b"".join(events[: int(len(events) * share)]))
    assert found.usage.completeness is Completeness.USAGE_INCOMPLETE


def test_formats_differ_in_what_they_can_say():
    tokens = Tokens(input=1, cache_read=20, cache_write_5m=300, cache_write_1h=4000, output=50_000, reasoning=600_000)
    found = {api: tuple(truth(api, tokens).of(bucket) for bucket in Bucket) for api in Api}
    assert found == {
        Api.ANTHROPIC: (1, 20, 300, 4000, 650_000, None),
        Api.RESPONSES: (1, 20, 4300, None, 50_000, 600_000),
        Api.CHAT: (1, 20, 4300, None, 50_000, 600_000),
        Api.GEMINI: (4301, 20, 0, 0, 50_000, 600_000),
    }


@pytest.mark.parametrize("api", Api)
def test_compressed_piece_by_piece_it_reads_the_same(api):
    asked = rig.read(api, rig.body_of(api, "do it", stream=True), stream=True)
    tokens = Tokens(input=7, output=9, reasoning=2)
    data = rig.wire_bytes(api, answer(tokens, Step(0, 0, "words")), asked)
    pack = zlib.compressobj(wbits=31)
    coded = b"".join(pack.compress(bytes([one])) + pack.flush(zlib.Z_SYNC_FLUSH) for one in data) + pack.flush()
    assert rig.metered(api, coded, "gzip").usage == truth(api, tokens)


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_reads_as_one(api, stream):
    asked = rig.read(api, rig.body_of(api, "do it", stream=stream), stream=stream)
    data = rig.wire_bytes(api, answer(Tokens(input=1, output=1), Step(0, 0, "No.", refuse=True)), asked)
    assert rig.metered(api, data).refused
