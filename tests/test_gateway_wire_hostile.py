"""Requests on the four wires: bodies that are read in one way or refused, and preparing that never breaks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.gateway.records import Api
from harness.gateway.wire import BodyError, body, facts, match, prepare
from harness.records import to_json
from tests.gateway_answers import WORDS

# ----------------------------------------------------------------------------------------------- hostile bodies


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"tools": [], "tools": [{"type": "web_search"}]}',
        b'{"a": {"tools": 1, "tools": 2}}',
        b'{"a": NaN}',
        b"\xff\xfe{}",
        '{"model": "m"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"model": "m"}',
        b'{"a": "\xed\xa0\x80"}',
        b'{"a":' * 100_000,
        b'{"a":[' + b"[]," * 1_000_001 + b"1]}",
    ],
    ids=lambda sent: repr(sent[:24]),
)
def test_a_body_that_can_be_read_two_ways_or_not_at_all_is_refused(api, sent):
    with pytest.raises(BodyError):
        prepare(api, sent)


def test_a_prompt_full_of_commas_is_no_crowd():
    sent = json.dumps({"messages": [{"content": ',[{"\\' * 200_000}]}).encode()
    assert prepare(Api.CHAT, sent) == (sent, (), json.loads(sent), False)


@pytest.mark.parametrize("depth", [50, 5000, 50_000])
def test_a_deep_body_is_refused_or_passes_as_it_is(depth):
    deep = b'{"type":"document","source":{"type":"content","content":[' * depth + b"]}}" * depth
    for sent in (b'{"messages":[{"content":[%s]}]}' % deep, b'{"messages":[%s]}' % (b"[" * depth + b"]" * depth)):
        try:
            assert prepare(Api.ANTHROPIC, sent).body == sent
        except BodyError:
            assert depth > 50


def test_a_body_over_the_bound_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(body, "MAX_REQUEST", 100)
    with pytest.raises(BodyError, match="is over"):
        prepare(Api.CHAT, b"x" * 101)


def test_a_number_that_is_none_is_refused_once_the_body_changes():
    with pytest.raises(BodyError):
        prepare(Api.CHAT, b'{"stream": true, "temperature": 1e999}')


PLACES = st.sampled_from(
    [
        "tools",
        "tool_choice",
        "messages",
        "content",
        "input",
        "output",
        "source",
        "contents",
        "parts",
        "systemInstruction",
        "stream",
        "stream_options",
        "type",
        "mcp_servers",
        "container",
        "prompt",
        "background",
        "plugins",
        "fileData",
        "functionResponse",
        "functionDeclarations",
        "image_url",
    ]
)
ASKS = st.recursive(
    WORDS | st.none() | st.booleans() | st.text(max_size=3) | st.floats(),
    lambda inner: st.dictionaries(PLACES | WORDS, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize("api", Api)
@settings(max_examples=60)
@given(value=st.dictionaries(PLACES, ASKS, max_size=6))
def test_preparing_never_breaks_and_is_done_after_once(api, value):
    try:
        done = prepare(api, json.dumps(value).encode())
    except BodyError:
        return
    again = prepare(api, done.body)
    assert (again.body, again.stripped) == (done.body, ())
    assert all(to_json(one) for one in done.stripped)
    path = {Api.ANTHROPIC: "/v1/messages", Api.RESPONSES: "/v1/responses", Api.CHAT: "/v1/chat/completions"}
    assert to_json(facts(match("POST", path.get(api, "/v1/models/m:generateContent")), body.load(done.body)))
