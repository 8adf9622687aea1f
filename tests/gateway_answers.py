"""Answers of the four formats, as their providers word them, and a meter that reads them."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import strategies as st

from harness.gateway.meter import Meter
from harness.gateway.records import Api, Bucket, Usage
from harness.gateway.wire import reading

COUNTS = st.integers(0, 10**7)


def events(*values, end="\n"):
    """A stream of events, each named by its type as the providers do."""
    out = b""
    for value in values:
        data = value if isinstance(value, str) else json.dumps(value)
        name = f"event: {value['type']}{end}" if isinstance(value, dict) and "type" in value else ""
        out += f"{name}data: {data}{end}{end}".encode()
    return out


def metered(api, body, coding=""):
    one = Meter(reading(api), coding)
    one.feed(body)
    return one.close()


def in_chunks(api, body, cuts, coding=""):
    one = Meter(reading(api), coding)
    edges = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    for start, end in pairwise(edges):
        one.feed(body[start:end])
    return one.close()


def anthropic_stream(start, *deltas, stop="end_turn", ended=True):
    head = {"id": "msg_1", "model": "m-1", "usage": start}
    ends = [{"type": "message_stop"}] if ended else []
    return events(
        {"type": "message_start", "message": head},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "caf\u00e9 \u2028 \u0085"}},
        {"type": "ping"},
        *({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": one} for one in deltas),
        *ends,
    )


def chat_stream(stated, *, done=True):
    chunk = {"id": "chatcmpl-1", "model": "m-2", "object": "chat.completion.chunk"}
    return events(
        chunk | {"choices": [{"index": 0, "delta": {"content": "a\r\nb"}}], "usage": None},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None},
        *([chunk | {"choices": [], "usage": stated}] if stated else []),
        *(["[DONE]"] if done else []),
    )


def responses_stream(stated, last="response.completed", status="completed"):
    response = {"id": "resp_1", "model": "m-3", "output": []}
    return events(
        {"type": "response.created", "response": response | {"status": "in_progress", "usage": None}},
        {"type": "response.output_text.delta", "delta": "x"},
        {"type": last, "response": response | {"status": status, "usage": stated}},
    )


def gemini_stream(*stated, finish="STOP"):
    out = [{"responseId": "g1", "modelVersion": "m-4", "usageMetadata": one, "candidates": [{}]} for one in stated]
    out[-1]["candidates"] = [{"finishReason": finish}]
    return events(*out, end="\r\n")


ANTHROPIC = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 300,
    "cache_read_input_tokens": 40,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
}
CHAT = {
    "prompt_tokens": 1000,
    "completion_tokens": 200,
    "total_tokens": 1200,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 150},
}
RESPONSES = {
    "input_tokens": 1000,
    "output_tokens": 200,
    "total_tokens": 1200,
    "input_tokens_details": {"cached_tokens": 600},
    "output_tokens_details": {"reasoning_tokens": 150},
}
GEMINI = {"promptTokenCount": 15, "candidatesTokenCount": 359, "thoughtsTokenCount": 661, "totalTokenCount": 1035}

STREAMS = {
    Api.ANTHROPIC: anthropic_stream(ANTHROPIC | {"output_tokens": 4}, {"output_tokens": 9}, {"output_tokens": 159}),
    Api.CHAT: chat_stream(CHAT),
    Api.RESPONSES: responses_stream(RESPONSES),
    Api.GEMINI: gemini_stream({"promptTokenCount": 15, "totalTokenCount": 15}, GEMINI),
}
BODIES = {
    Api.ANTHROPIC: {"type": "message", "id": "msg_1", "model": "m-1", "stop_reason": "end_turn"}
    | {"usage": ANTHROPIC | {"output_tokens": 159}},
    Api.CHAT: {
        "id": "chatcmpl-1",
        "model": "m-2",
        "choices": [{"finish_reason": "stop", "message": {}}],
        "usage": CHAT,
    },
    Api.RESPONSES: {"id": "resp_1", "model": "m-3", "status": "completed", "output": [], "usage": RESPONSES},
    Api.GEMINI: {"responseId": "g1", "modelVersion": "m-4", "candidates": [{"finishReason": "STOP"}]}
    | {"usageMetadata": GEMINI},
}
EXPECTED = {
    Api.ANTHROPIC: (3, 40, 100, 200, 159, None),
    Api.CHAT: (400, 600, 0, 0, 50, 150),
    Api.RESPONSES: (400, 600, 0, 0, 50, 150),
    Api.GEMINI: (15, 0, 0, 0, 359, 661),
}


def buckets(one: Usage):
    return tuple(one.of(bucket) for bucket in Bucket)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**60) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "type",
        "usage",
        "message",
        "response",
        "choices",
        "delta",
        "id",
        "model",
        "status",
        "error",
        "output",
        "content",
        "candidates",
        "usageMetadata",
        "input_tokens",
        "output_tokens",
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_tokens_details",
        "cached_tokens",
        "cache_creation",
        "promptTokenCount",
        "candidatesTokenCount",
        "totalTokenCount",
        "finishReason",
        "stop_reason",
        "incomplete_details",
    ]
)
SHAPED = st.recursive(
    st.integers(-1, 2**54) | WORDS | JSON_VALUES,
    lambda inner: st.dictionaries(WORDS, inner, max_size=6) | st.lists(inner, max_size=2),
    max_leaves=8,
)
