"""What a body asks for in ways that some server understands and a plain reading misses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.gateway.access import Access, Budget, Upstream
from harness.gateway.meter import Meter
from harness.gateway.policy import Denied, check_model
from harness.gateway.records import Api, Bucket, Provided
from harness.gateway.wire import BodyError, facts, match, prepare, reading
from tests.gateway_rig import AUTH, BODIES, MODEL, PATHS

LOWER = (Api.ANTHROPIC, Api.RESPONSES, Api.CHAT)


def prepared(api: Api, **more: Any):
    """A format's usual body with more in it."""
    return prepare(api, json.dumps({**BODIES[api], **more}).encode())


@pytest.mark.parametrize("api", LOWER)
@pytest.mark.parametrize("name", ["Model", "Tools", "STREAM", "too\u017f", "\u212aey"])
def test_names_in_another_case_are_refused(api: Api, name: str) -> None:
    # Servers in Go take them for the names in lower case.
    with pytest.raises(BodyError, match=r"in lower case|in case alone"):
        prepared(api, **{name: "other"})


@pytest.mark.parametrize("api", [*LOWER, Api.GEMINI])
@pytest.mark.parametrize("tool", [{"type": "function", "Type": "web_search"}, {"Type": "web_search", "function": {}}])
def test_a_tool_has_one_type(api: Api, tool: dict[str, Any]) -> None:
    if api is Api.GEMINI:
        assert prepared(api, tools=[tool]).stripped
        return
    with pytest.raises(BodyError, match="in case alone"):
        prepared(api, tools=[tool])


@pytest.mark.parametrize("api", [*LOWER, Api.GEMINI])
@pytest.mark.parametrize("stream", [1, 0, 1.0, "true", [], {}])
def test_a_stream_is_true_or_false(api: Api, stream: Any) -> None:
    with pytest.raises(BodyError, match="neither true nor false"):
        prepared(api, stream=stream)


@pytest.mark.parametrize("api", LOWER)
@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"service_tier": "priority"}, Provided.OTHER_TERMS),
        ({"speed": "fast"}, Provided.OTHER_TERMS),
        ({"inference_geo": "us"}, Provided.OTHER_TERMS),
        ({"plugins": [{"id": "web"}]}, Provided.WEB_SEARCH),
        ({"search_settings": {"include_domains": []}}, Provided.WEB_SEARCH),
        ({"deferred": True}, Provided.BACKGROUND),
        ({"extra_body": {"google": {"cached_content": "x"}}}, Provided.UNKNOWN_TOOL),
    ],
)
def test_what_routers_and_providers_take_beside_a_format_goes(api: Api, more: dict[str, Any], kind: Provided) -> None:
    found = prepared(api, **more)
    assert [one.kind for one in found.stripped] == [kind]
    assert not set(more) & set(json.loads(found.body))


@pytest.mark.parametrize("tier", ["auto", "default", "standard_only", None])
def test_the_usual_tier_stays(tier: str | None) -> None:
    assert not prepared(Api.CHAT, service_tier=tier).stripped


@pytest.mark.parametrize("name", ["serviceTier", "service_tier"])
def test_gemini_s_tier_goes(name: str) -> None:
    assert [one.kind for one in prepared(Api.GEMINI, **{name: "PRIORITY"}).stripped] == [Provided.OTHER_TERMS]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "video", "video": ["https://a.test/1.png", "https://a.test/2.png"]},
        {"type": "input_audio", "input_audio": {"data": " HTTPS://a.test/x.wav", "format": "wav"}},
        {"type": "file", "file": {"file_data": "file:///etc/passwd"}},
    ],
)
def test_addresses_where_bytes_are_expected_go(block: dict[str, Any]) -> None:
    found = prepared(Api.CHAT, messages=[{"role": "user", "content": [block]}])
    assert [one.kind for one in found.stripped] == [Provided.REMOTE_MEDIA]


def test_bytes_where_bytes_are_expected_stay() -> None:
    blocks = [
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0="}},
    ]
    assert not prepared(Api.CHAT, messages=[{"role": "user", "content": blocks}]).stripped


@pytest.mark.parametrize(
    "more",
    [
        {"fallbacks": ["other"]},
        {"fallbacks": [{"model": "other", "messages": []}]},
        {"context_window_fallbacks": [{MODEL: ["other"]}]},
        {"models": [MODEL, "other"]},
        {"models": {"model": "other"}},
    ],
)
def test_a_model_to_fall_back_to_must_be_allowed_too(more: dict[str, Any]) -> None:
    upstream = Upstream(name="fake", url="http://127.0.0.1:1", auth=AUTH, billing="api", credential="K")
    access = Access(upstream=upstream, apis=tuple(Api), models=(MODEL,), budget=Budget())
    endpoint = match("POST", PATHS[Api.CHAT])
    assert endpoint is not None
    value = prepared(Api.CHAT, **more).value
    with pytest.raises(Denied, match="model"):
        check_model(access, endpoint, facts(endpoint, value), value)


def test_a_conversation_shortened_by_the_provider_is_counted_as_well() -> None:
    figures = {"input_tokens": 23_000, "output_tokens": 1_000, "cache_read_input_tokens": 0}
    figures |= {"cache_creation_input_tokens": 0}
    iterations = [
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500, "cache_read_input_tokens": 7},
        {"type": "message", **figures},
    ]
    meter = Meter(reading(Api.ANTHROPIC))
    meter.feed(json.dumps({"id": "m", "content": [], "usage": {**figures, "iterations": iterations}}).encode())
    usage = meter.close().usage
    assert (usage.of(Bucket.INPUT), usage.of(Bucket.OUTPUT), usage.of(Bucket.CACHE_READ)) == (203_000, 4_500, 7)
