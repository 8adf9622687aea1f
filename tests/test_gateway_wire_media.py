"""Requests on the four wires: media by URL and by file, and streams that are asked for their usage."""

from __future__ import annotations

import json

import pytest

from harness.gateway.records import Api
from harness.gateway.wire import prepare
from tests.gateway_bodies import CUT, P, prepared

# ----------------------------------------------------------------------------------------------- media


def anthropic_image(**source):
    return {"type": "image", "source": source}


def anthropic_note(kind):
    return {"type": "text", "text": CUT.format(kind)}


def test_anthropic_media_by_url_or_file_id_become_notes():
    inline, remote = anthropic_image(type="base64", data="x"), anthropic_image(type="url", url="https://x/a.png")
    stored = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    nested = {"type": "document", "source": {"type": "content", "content": [remote, {"type": "text", "text": "t"}]}}
    value, stripped = prepared(
        Api.ANTHROPIC,
        {
            "messages": [
                {"role": "user", "content": "a text"},
                {
                    "role": "user",
                    "content": [inline, remote, stored, {"type": "container_upload", "file_id": "f"}, nested],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [remote, nested]}]},
                {"role": "user", "content": [{"type": "video_of_2030", "source": {"type": "url", "url": "https://x"}}]},
                {"role": "assistant", "content": [{"type": "tool_use", "input": {"content": [remote]}}]},
            ]
        },
    )
    clean = {
        "type": "document",
        "source": {"type": "content", "content": [anthropic_note("remote_media"), nested["source"]["content"][1]]},
    }
    first, second, later, third = (message["content"] for message in value["messages"][1:])
    assert first == [
        inline,
        anthropic_note("remote_media"),
        anthropic_note("file_id"),
        anthropic_note("file_id"),
        clean,
    ]
    assert second[0]["content"] == [anthropic_note("remote_media"), clean]
    assert later == [anthropic_note("remote_media")]
    assert third[0]["input"] == {"content": [remote]}, "a tool's input is data"
    assert [one[0] for one in stripped].count(P.REMOTE_MEDIA) == 5
    assert stripped[0] == (P.REMOTE_MEDIA, "image", "messages[1].content[1]")


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/a.png"}}, "remote_media"),
        ({"type": "image_url", "image_url": "http://x/a.png"}, "remote_media"),
        ({"type": "image_url", "image_url": {"url": " data:,"}}, "remote_media"),
        ({"type": "video_url", "video_url": {"url": "gs://x"}}, "remote_media"),
        ({"type": "file", "file": {"file_id": "file_1"}}, "file_id"),
        ({"type": "image_url", "image_url": {"url": "DATA:image/png;base64,AA"}}, None),
        ({"type": "file", "file": {"file_data": "data:,x", "filename": "a"}}, None),
        ({"type": "text", "text": "https://x/a.png"}, None),
    ],
)
def test_chat_media(part, kind):
    value, stripped = prepared(Api.CHAT, {"messages": [{"role": "user", "content": [part]}]})
    left = {"type": "text", "text": CUT.format(kind)} if kind else part
    assert value["messages"][0]["content"] == [left]
    assert [one[0] for one in stripped] == ([P(kind)] if kind else [])


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "input_image", "image_url": "https://x/a.png"}, "remote_media"),
        ({"type": "input_image", "file_id": "file_1"}, "file_id"),
        ({"type": "input_file", "file_url": "https://x/a.pdf"}, "remote_media"),
        ({"type": "input_image", "image_url": "data:image/png;base64,AA"}, None),
        ({"type": "output_text", "text": "t", "annotations": [{"type": "url_citation", "url": "https://x"}]}, None),
    ],
)
@pytest.mark.parametrize("place", ["content", "output"])
def test_responses_media(part, kind, place):
    value, stripped = prepared(Api.RESPONSES, {"input": [{"type": "message", place: [part]}]})
    left = {"type": "input_text", "text": CUT.format(kind)} if kind else part
    assert value["input"][0][place] == [left]
    assert [one[0] for one in stripped] == ([P(kind)] if kind else [])


def test_tools_that_come_in_the_input_are_no_way_around():
    """Newer models of Codex get their tools there."""
    search = {"type": "web_search"}
    space = {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}, search]}
    item = {
        "type": "additional_tools",
        "role": "developer",
        "tools": [space, search, {"type": "custom", "name": "exec"}],
    }
    value, stripped = prepared(Api.RESPONSES, {"input": [item]})
    assert [one["type"] for one in value["input"][0]["tools"]] == ["namespace", "custom"]
    assert value["input"][0]["tools"][0]["tools"] == space["tools"][:1]
    assert [one[0] for one in stripped] == [P.WEB_SEARCH, P.WEB_SEARCH]


@pytest.mark.parametrize("name", ["fileData", "file_data"])
@pytest.mark.parametrize("outer", ["contents", "systemInstruction", "system_instruction"])
def test_gemini_files_become_notes(name, outer):
    remote = {name: {"fileUri": "https://youtu.be/x"}}
    stored = {name: {"file_uri": "https://generativelanguage.googleapis.com/v1beta/files/1"}}
    inline = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
    answer = {"functionResponse": {"name": "f", "response": {"fileData": 1}, "parts": [remote]}}
    value, stripped = prepared(Api.GEMINI, {outer: {"parts": [remote, stored, inline, answer]}})
    notes = [{"text": CUT.format(kind)} for kind in ("remote_media", "file_id")]
    assert value[outer]["parts"][:3] == [*notes, inline]
    assert value[outer]["parts"][3]["functionResponse"]["parts"] == notes[:1]
    assert [one[0] for one in stripped] == [P.REMOTE_MEDIA, P.FILE_ID, P.REMOTE_MEDIA]


def test_both_names_of_a_gemini_field_are_looked_at():
    remote = {"file_data": {"file_uri": "https://x"}}
    part = {"functionResponse": {}, "function_response": {"parts": [remote]}}
    value, stripped = prepared(Api.GEMINI, {"contents": [{"parts": [part, {"fileData": None} | remote]}]})
    note = {"text": CUT.format("remote_media")}
    assert value["contents"][0]["parts"] == [{"functionResponse": {}, "function_response": {"parts": [note]}}, note]
    assert len(stripped) == 2


def test_what_is_counted_is_cut_as_what_is_sent():
    inner = {"contents": [], "tools": [{"googleSearch": {}}]}
    assert prepared(Api.GEMINI, {"generateContentRequest": inner})[0] == {"generateContentRequest": {"contents": []}}


# ----------------------------------------------------------------------------------------------- usage of a stream


@pytest.mark.parametrize(
    ("asked", "drops"),
    [
        ({}, True),
        ({"stream_options": None}, True),
        ({"stream_options": {"include_usage": False}}, True),
        ({"stream_options": {"include_usage": True}}, False),
    ],
)
def test_a_chat_stream_is_asked_for_its_usage(asked, drops):
    done = prepare(Api.CHAT, json.dumps({"model": "m", "stream": True} | asked).encode())
    assert json.loads(done.body)["stream_options"] == {"include_usage": True}
    assert (done.drop_usage, done.stripped) == (drops, ())


def test_other_stream_options_stay():
    value, _ = prepared(Api.CHAT, {"stream": True, "stream_options": {"include_obfuscation": False}})
    assert value["stream_options"] == {"include_obfuscation": False, "include_usage": True}


def test_an_answer_that_is_not_streamed_needs_no_asking():
    assert prepare(Api.CHAT, b'{"model": "m"}') == (b'{"model": "m"}', (), {"model": "m"}, False)
