"""Usage off the wire: what providers and networks do, case by case, and the records that hold it."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from harness.gateway.records import Api, Bucket, Completeness, TraceLine, Usage
from harness.gateway.usage import cut, openai_usage, total, unavailable, usage
from harness.records import to_json
from tests.gateway_answers import (
    ANTHROPIC,
    BODIES,
    CHAT,
    EXPECTED,
    GEMINI,
    RESPONSES,
    STREAMS,
    anthropic_stream,
    buckets,
    chat_stream,
    events,
    gemini_stream,
    metered,
    responses_stream,
)

# ------------------------------------------------------------------------------------- what providers and networks do


def test_the_last_cumulative_value_wins():
    one = metered(
        Api.ANTHROPIC,
        anthropic_stream({"input_tokens": 5, "output_tokens": 9}, *({"output_tokens": n} for n in (9, 159))),
    )
    assert (one.usage.input, one.usage.output) == (5, 159)


def test_a_request_id_counts_once_and_the_later_wins():
    first = metered(Api.ANTHROPIC, anthropic_stream(ANTHROPIC, {"output_tokens": 9})).usage
    later = metered(Api.ANTHROPIC, STREAMS[Api.ANTHROPIC]).usage
    assert total([("msg_1", first), ("msg_1", later)]).output == 159
    assert total([("msg_1", first), ("msg_2", later)]).output == 168


def test_a_delta_may_leave_the_input_out_or_null():
    one = metered(Api.ANTHROPIC, anthropic_stream(ANTHROPIC, {"output_tokens": 7, "input_tokens": None})).usage
    assert (one.input, one.output, one.completeness) == (3, 7, Completeness.COMPLETE)


def test_a_sum_sets_apart_what_all_its_usages_do():
    split = metered(Api.ANTHROPIC, STREAMS[Api.ANTHROPIC]).usage
    plain = usage({Bucket.INPUT: 10, Bucket.OUTPUT: 1})
    assert buckets(total([("a", split), ("b", plain)])) == (3 + 40 + 100 + 200 + 10, None, None, None, 160, None)


def test_a_placeholder_is_no_output():
    one = metered(Api.ANTHROPIC, anthropic_stream(ANTHROPIC | {"output_tokens": 4}, ended=False)).usage
    assert (one.output, one.input, one.completeness) == (None, 3, Completeness.USAGE_INCOMPLETE)
    assert one.missing[Bucket.OUTPUT] == "the answer ended before it was stated"


@pytest.mark.parametrize("api", Api)
def test_an_aborted_stream_is_incomplete(api):
    whole = STREAMS[api]
    for length in range(0, len(whole) - 90, 7):
        assert metered(api, whole[:length]).usage.completeness is Completeness.USAGE_INCOMPLETE


@pytest.mark.parametrize("api", Api)
def test_a_cut_body_is_incomplete(api):
    one = metered(api, json.dumps(BODIES[api]).encode()[:-1]).usage
    assert (one.completeness, one.input) == (Completeness.USAGE_INCOMPLETE, None)


@pytest.mark.parametrize("api", Api)
def test_silence_is_incomplete_and_not_zero(api):
    one = metered(api, b"").usage
    assert (one.completeness, one.input, one.reason) == (Completeness.USAGE_INCOMPLETE, None, "nothing was answered")


def test_a_stream_without_usage_is_unavailable():
    one = metered(Api.CHAT, chat_stream(None)).usage
    assert (one.completeness, one.output) == (Completeness.UNAVAILABLE, None)


def test_a_stated_zero_is_a_zero():
    zero = {
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "total_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    one = metered(Api.CHAT, chat_stream(zero)).usage
    assert (one.input, one.output, one.cache_read, one.reasoning) == (0, 0, 0, None)
    assert one.completeness is Completeness.COMPLETE


def test_what_a_local_server_does_not_set_apart_is_missing():
    one = openai_usage(
        {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}, "prompt_tokens", "completion_tokens"
    )
    assert (one.input, one.cache_read, one.output, one.reasoning) == (10, None, 2, None)
    assert set(one.missing) == {Bucket.CACHE_READ, Bucket.REASONING}


def test_reasoning_beside_the_completion_is_told_by_the_total():
    raw = {"prompt_tokens": 10, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 30}}
    beside = openai_usage(raw | {"total_tokens": 42}, "prompt_tokens", "completion_tokens")
    assert (beside.output, beside.reasoning, beside.completeness) == (2, 30, Completeness.COMPLETE)
    neither = openai_usage(raw | {"total_tokens": 12}, "prompt_tokens", "completion_tokens")
    assert neither.completeness is Completeness.USAGE_INCOMPLETE


def test_gemini_thoughts_inside_the_candidates_are_told_by_the_total():
    one = metered(Api.GEMINI, gemini_stream(GEMINI | {"candidatesTokenCount": 1020})).usage
    assert (one.output, one.reasoning) == (359, 661)


def test_gemini_adds_what_tools_put_into_the_prompt():
    raw = {"promptTokenCount": 10, "cachedContentTokenCount": 4, "toolUsePromptTokenCount": 5, "totalTokenCount": 15}
    assert buckets(metered(Api.GEMINI, gemini_stream(raw)).usage) == (11, 4, 0, 0, 0, 0)


def test_a_gemini_stream_without_events_is_read_too():
    body = json.dumps([{"usageMetadata": {"promptTokenCount": 15}}, BODIES[Api.GEMINI]]).encode()
    assert buckets(metered(Api.GEMINI, body).usage) == EXPECTED[Api.GEMINI]


@pytest.mark.parametrize(
    "raw",
    [
        CHAT | {"total_tokens": 1201},
        CHAT | {"prompt_tokens_details": {"cached_tokens": 1001}},
        CHAT | {"completion_tokens": "200"},
        CHAT | {"completion_tokens": -1},
        CHAT | {"completion_tokens": True},
        CHAT | {"completion_tokens": 2**53},
    ],
)
def test_a_usage_that_contradicts_itself_is_incomplete(raw):
    assert metered(Api.CHAT, chat_stream(raw)).usage.completeness is Completeness.USAGE_INCOMPLETE


def test_cache_writes_without_a_lifetime_are_not_split():
    raw = {"input_tokens": 3, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 0, "output_tokens": 1}
    one = metered(Api.ANTHROPIC, json.dumps({"usage": raw}).encode()).usage
    assert (one.cache_write_5m, one.cache_write_1h, one.stated) == (7, None, 11)
    none_written = metered(
        Api.ANTHROPIC, json.dumps({"usage": raw | {"cache_creation_input_tokens": 0}}).encode()
    ).usage
    assert (none_written.cache_write_5m, none_written.cache_write_1h) == (0, 0)


def test_cache_writes_that_do_not_add_up_are_incomplete():
    raw = ANTHROPIC | {"output_tokens": 1, "cache_creation_input_tokens": 299}
    one = metered(Api.ANTHROPIC, json.dumps({"usage": raw}).encode()).usage
    assert one.completeness is Completeness.USAGE_INCOMPLETE


def test_a_provider_that_breaks_off_is_named():
    stream = anthropic_stream(ANTHROPIC, ended=False) + events(
        {"type": "error", "error": {"type": "overloaded_error", "message": "key sk-123 is tired"}}
    )
    one = metered(Api.ANTHROPIC, stream)
    assert (one.error, one.usage.reason) == ("overloaded_error", "the provider broke off with overloaded_error")
    assert "sk-123" not in to_json(one).decode()


def test_refusals_are_seen():
    assert metered(Api.ANTHROPIC, anthropic_stream(ANTHROPIC, {"output_tokens": 1}, stop="refusal")).refused
    assert metered(Api.GEMINI, gemini_stream(GEMINI, finish="SAFETY")).refused
    assert metered(Api.GEMINI, events({"promptFeedback": {"blockReason": "OTHER"}, "usageMetadata": GEMINI})).refused
    assert metered(Api.CHAT, events({"choices": [{"delta": {"refusal": "no"}}]})).refused
    assert metered(Api.RESPONSES, events({"type": "response.refusal.delta", "delta": "no"})).refused
    body = {"status": "completed", "output": [{"content": [{"type": "refusal"}]}]}
    assert metered(Api.RESPONSES, json.dumps(body).encode()).refused


def test_an_answer_in_the_background_has_not_ended():
    body = {"status": "queued", "usage": None, "id": "resp_1"}
    assert metered(Api.RESPONSES, json.dumps(body).encode()).usage.completeness is Completeness.USAGE_INCOMPLETE


def test_an_incomplete_response_states_its_usage():
    one = metered(Api.RESPONSES, responses_stream(RESPONSES, "response.incomplete", "incomplete"))
    assert one.usage.completeness is Completeness.COMPLETE


def test_a_malformed_usage_event_is_incomplete_not_unavailable():
    stream = chat_stream(CHAT).replace(b'"prompt_tokens":', b'"prompt_tokens"', 1)
    assert metered(Api.CHAT, stream).usage.completeness is Completeness.USAGE_INCOMPLETE


def test_a_wrong_content_type_and_blank_lines_before_the_body_do_not_matter():
    whole = b"\n\n \r\n" + json.dumps(BODIES[Api.CHAT]).encode()
    assert buckets(metered(Api.CHAT, whole).usage) == EXPECTED[Api.CHAT]
    assert metered(Api.CHAT, b"<html>bad gateway</html>").usage.completeness is Completeness.USAGE_INCOMPLETE


# ----------------------------------------------------------------------------------------------- the records


def test_a_usage_says_why_a_bucket_is_missing():
    good = usage({Bucket.INPUT: 1, Bucket.OUTPUT: 2})
    for wrong in (
        {"missing": {}},
        {"completeness": "usage_incomplete"},
        {"reason": "because"},
        {"provider_total": 4},
        {"input": None, "missing": dict.fromkeys([b for b in Bucket if b is not Bucket.OUTPUT], "x")},
    ):
        with pytest.raises(ValidationError):
            Usage.model_validate(good.model_dump() | wrong)


def test_sums_of_nothing_and_of_incomplete_usages():
    assert total([]).stated == 0
    assert total([("a", unavailable("local"))]).completeness is Completeness.UNAVAILABLE
    at_least = total([("a", usage({Bucket.INPUT: 5, Bucket.OUTPUT: 7})), ("b", cut("cut")), ("c", unavailable("none"))])
    assert (at_least.input, at_least.output, at_least.reason) == (5, 7, "2 of 3 exchanges: cut")
    assert at_least.completeness is Completeness.USAGE_INCOMPLETE


def test_only_the_first_trace_line_has_none_before_it():
    line = {"at_us": 1, "method": "POST", "host": "h", "path": "/", "status": None}
    assert TraceLine.model_validate(line | {"seq": 0, "prev": None})
    for wrong in ({"seq": 1, "prev": None}, {"seq": 0, "prev": "sha256:" + "0" * 64}):
        with pytest.raises(ValidationError):
            TraceLine.model_validate(line | wrong)
