"""Usage off the wire: disjoint buckets that sum to the provider's total, however the answer is cut into chunks."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.gateway import sse
from harness.gateway.records import Api, Bucket, Completeness, Usage
from harness.gateway.usage import total
from harness.records import from_json, to_json
from tests.gateway_answers import (
    BODIES,
    COUNTS,
    EXPECTED,
    SHAPED,
    STREAMS,
    buckets,
    events,
    in_chunks,
    metered,
)


@pytest.mark.parametrize("api", Api)
def test_a_streamed_and_a_whole_answer_have_the_same_buckets(api):
    streamed, whole = metered(api, STREAMS[api]), metered(api, json.dumps(BODIES[api]).encode())
    assert buckets(streamed.usage) == buckets(whole.usage) == EXPECTED[api]
    assert streamed.usage.completeness is whole.usage.completeness is Completeness.COMPLETE
    assert streamed == whole
    assert (streamed.model, streamed.refused, streamed.error) == (BODIES[api].get("model", "m-4"), False, None)
    assert streamed.request_id and streamed.finish


@pytest.mark.parametrize("api", Api)
@settings(max_examples=60)
@given(data=st.data())
def test_any_split_into_chunks_gives_the_same_answer(api, data):
    body = data.draw(st.sampled_from([STREAMS[api], json.dumps(BODIES[api]).encode()]))
    zipped = data.draw(st.booleans())
    body, coding = (gzip.compress(body, mtime=0), "gzip") if zipped else (body, "")
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=40))
    assert in_chunks(api, body, cuts, coding) == metered(api, body, coding)


@pytest.mark.parametrize("api", Api)
def test_one_byte_at_a_time_gives_the_same_answer(api):
    body = STREAMS[api]
    assert in_chunks(api, body, range(len(body))) == metered(api, body)


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@given(cuts=st.lists(st.integers(0, 10**4), max_size=30))
def test_line_endings_and_comments_change_nothing(end, cuts):
    stream = (
        STREAMS[Api.CHAT].decode().replace("\n\n", "\n: a comment\nid: 7\nretry: 9\n\n").replace("\n", end).encode()
    )
    assert in_chunks(Api.CHAT, stream, cuts) == metered(Api.CHAT, STREAMS[Api.CHAT])


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@given(cuts=st.lists(st.integers(0, 30), max_size=6))
def test_an_event_of_several_lines_is_one_wherever_it_is_cut(end, cuts):
    body = f"event: a{end}data: 1{end}data: 2{end}{end}data: 3{end}{end}".encode()
    edges = [0, *sorted(one % (len(body) + 1) for one in cuts), len(body)]
    splitter = sse.Splitter()
    frames = [frame for start, stop in pairwise(edges) for frame in splitter.feed(body[start:stop])] + splitter.close()
    found = [one for frame in frames if (one := sse.parse(frame.raw)).data is not None]
    assert found == [("a", b"1\n2"), ("", b"3")]


@given(chunks=st.lists(st.binary(max_size=12) | st.sampled_from([b"\n", b"\r", b"\r\n", b"data: {}", b": c"])))
def test_frames_joined_are_the_stream(chunks):
    splitter = sse.Splitter(limit=20)
    frames = [frame for chunk in chunks for frame in splitter.feed(chunk)] + splitter.close()
    assert b"".join(frame.raw for frame in frames) == b"".join(chunks)
    assert all(len(frame.raw) <= 20 for frame in frames if frame.whole)


def test_data_lines_are_joined_and_a_space_is_taken_off_once():
    assert sse.parse(b"event: x\ndata:  a\r\ndata:b\rdata\n\n") == ("x", b" a\nb\n")
    assert sse.parse(b": only a comment\n\n").data is None


# ----------------------------------------------------------------------------------------------- the laws


def check(one: Usage):
    """A complete usage's buckets are disjoint and sum to the provider's total."""
    if one.completeness is Completeness.COMPLETE:
        assert one.provider_total in (None, one.stated)
        assert one.input is not None and one.output is not None
    assert {bucket for bucket in Bucket if one.of(bucket) is None} == set(one.missing)


@given(
    prompt=COUNTS, cached=COUNTS, answer=COUNTS, reasoning=COUNTS, inside=st.booleans(), api=st.sampled_from(list(Api))
)
def test_buckets_sum_to_the_total(prompt, cached, answer, reasoning, inside, api):
    cached, reasoning = min(cached, prompt), min(reasoning, answer) if inside else reasoning
    sum_ = prompt + answer + (0 if inside else reasoning)
    if api is Api.GEMINI:
        raw = {"promptTokenCount": prompt, "cachedContentTokenCount": cached, "candidatesTokenCount": answer}
        body = {"usageMetadata": raw | {"thoughtsTokenCount": reasoning, "totalTokenCount": sum_}}
    elif api is Api.ANTHROPIC:
        reasoning = 0
        sum_ = prompt + answer
        raw = {"input_tokens": prompt - cached, "cache_read_input_tokens": cached, "output_tokens": answer}
        body = {"type": "message", "usage": raw | {"cache_creation_input_tokens": 0}}
    else:
        ins, outs = ("prompt", "completion") if api is Api.CHAT else ("input", "output")
        raw = {f"{ins}_tokens": prompt, f"{outs}_tokens": answer, "total_tokens": sum_}
        raw |= {f"{ins}_tokens_details": {"cached_tokens": cached}}
        body = {"usage": raw | {f"{outs}_tokens_details": {"reasoning_tokens": reasoning}}}
    one = metered(api, json.dumps(body).encode()).usage
    check(one)
    assert one.completeness is Completeness.COMPLETE
    assert one.stated == sum_
    assert one.cache_read == cached
    assert one.prompt == prompt


@pytest.mark.parametrize("api", Api)
@settings(max_examples=40)
@given(values=st.lists(SHAPED, max_size=4), as_events=st.booleans())
def test_no_answer_breaks_a_meter(api, values, as_events):
    text = events(*values) if as_events else json.dumps(values[0] if values else []).encode()
    one = metered(api, text)
    check(one.usage)
    assert from_json(type(one), to_json(one)) == one


@pytest.mark.parametrize("api", Api)
@given(noise=st.binary(max_size=200), coding=st.sampled_from(["", "gzip", "br"]))
def test_no_bytes_break_a_meter(api, noise, coding):
    check(metered(api, noise, coding).usage)


@given(parts=st.lists(st.tuples(st.sampled_from(list(Api)), st.booleans()), min_size=1, max_size=8))
def test_a_sum_of_usages_keeps_every_token(parts):
    usages = [
        metered(api, STREAMS[api] if streamed else json.dumps(BODIES[api]).encode()).usage for api, streamed in parts
    ]
    summed = total((str(at), one) for at, one in enumerate(usages))
    check(summed)
    assert summed.completeness is Completeness.COMPLETE
    assert summed.stated == sum(one.stated for one in usages)
