"""Requests on the four wires: which endpoint, what they ask for, and which tools are taken out of them."""

from __future__ import annotations

import json

import pytest

from harness.gateway.records import Api, Provided
from harness.gateway.wire import body, facts, gemini, match, prepare
from tests.gateway_bodies import P, prepared

# ----------------------------------------------------------------------------------------------- the endpoints


@pytest.mark.parametrize(
    ("path", "api", "billed"),
    [
        ("/v1/messages", Api.ANTHROPIC, True),
        ("/v1/messages?beta=true", Api.ANTHROPIC, True),
        ("/v1/messages/count_tokens?beta=true", Api.ANTHROPIC, False),
        ("/v1/responses", Api.RESPONSES, True),
        ("/v1/chat/completions", Api.CHAT, True),
        ("/chat/completions", Api.CHAT, True),
        ("/v1beta/models/gemini-2.5-pro:generateContent", Api.GEMINI, True),
        ("/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", Api.GEMINI, True),
        ("/v1beta/models/gemini-2.5-pro:countTokens", Api.GEMINI, False),
    ],
)
def test_the_agents_endpoints_are_known(path, api, billed):
    found = match("POST", path)
    assert (found.api, found.billed) == (api, billed)
    assert match("GET", path) is None


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages/batches",
        "/v1/files",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/input_items",
        "/v1/batches",
        "/v1/vector_stores",
        "/v1/containers",
        "/v1/conversations",
        "/v1/realtime",
        "/v1beta/files",
        "/v1beta/cachedContents",
        "/v1beta/models/m:batchGenerateContent",
        "/upload/v1beta/files",
        "//v1/messages",
        "/v1/messages/",
        "/V1/messages",
        "/v1%2fmessages",
        "/v1/files/../messages",
        "/v1beta/models/a/../../files:generateContent",
        "/v1beta/models/%2e%2e:generateContent",
        "/v1beta/models/..:generateContent",
        "/v1beta/models/m:generateContent\n",
        "http://elsewhere/v1/messages",
    ],
)
def test_everything_else_is_no_endpoint(path):
    assert match("POST", path) is None


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (
            "/v1/messages",
            {"model": "m", "output_config": {"effort": "high"}, "stream": True},
            ("m", "high", True),
        ),
        ("/v1/messages", {"model": "m", "thinking": {"budget_tokens": 4096}}, ("m", "budget=4096", False)),
        ("/v1/messages", {"model": ["m"], "stream": None}, (None, None, False)),
        ("/v1/responses", {"model": "m", "reasoning": {"effort": "low"}, "stream": True}, ("m", "low", True)),
        ("/v1/chat/completions", {"model": "m", "reasoning_effort": "xhigh"}, ("m", "xhigh", False)),
        ("/v1/chat/completions", {"model": "m", "reasoning": {"effort": "low"}}, ("m", "low", False)),
        (
            "/v1/models/g-1:streamGenerateContent",
            {"model": "other", "generationConfig": {"thinkingConfig": {"thinkingLevel": "HIGH"}}},
            ("g-1", "HIGH", True),
        ),
        (
            "/v1beta/models/g-1:generateContent",
            {"generation_config": {"thinking_config": {"thinking_budget": -1}}},
            ("g-1", "budget=-1", False),
        ),
    ],
)
def test_model_effort_and_stream_are_as_on_the_wire(path, value, expected):
    found = facts(match("POST", path), body.load(json.dumps(value).encode()))
    assert (found.model, found.effort, found.stream) == expected


def test_gemini_says_in_the_query_if_it_wants_events():
    assert gemini.wants_events("/v1/models/m:streamGenerateContent?alt=sse&key=k")
    assert not gemini.wants_events("/v1/models/m:streamGenerateContent?alt=sse&alt=json")
    assert not gemini.wants_events("/v1/models/m:streamGenerateContent")


# ----------------------------------------------------------------------------------------------- tools

FUNCTION = {"type": "function", "name": "web_search", "parameters": {"type": "object"}}
HOSTED = {
    Api.ANTHROPIC: [
        ({"type": "web_search_20250305", "name": "web_search"}, P.WEB_SEARCH, "web_search_20250305"),
        ({"type": "web_fetch_20250910", "name": "web_fetch"}, P.WEB_FETCH, "web_fetch_20250910"),
        ({"type": "code_execution_20250825", "name": "c"}, P.CODE_EXECUTION, "code_execution_20250825"),
        ({"type": "computer_20250124", "name": "computer"}, P.COMPUTER_USE, "computer_20250124"),
        ({"type": "mcp_toolset", "mcp_server_name": "s"}, P.HOSTED_MCP, "mcp_toolset:s"),
        ({"type": "time_travel_20300101", "name": "t"}, P.UNKNOWN_TOOL, "time_travel_20300101"),
        ({"type": ["custom"]}, P.UNKNOWN_TOOL, "list"),
        ("web_search", P.UNKNOWN_TOOL, "tool without type"),
    ],
    Api.RESPONSES: [
        ({"type": "web_search"}, P.WEB_SEARCH, "web_search"),
        ({"type": "web_search_preview_2025_03_11"}, P.WEB_SEARCH, "web_search_preview_2025_03_11"),
        ({"type": "file_search", "vector_store_ids": ["v"]}, P.FILE_SEARCH, "file_search"),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, P.CODE_EXECUTION, "code_interpreter"),
        ({"type": "computer_use_preview"}, P.COMPUTER_USE, "computer_use_preview"),
        ({"type": "image_generation"}, P.IMAGE_GENERATION, "image_generation"),
        ({"type": "mcp", "server_label": "s", "server_url": "https://x"}, P.HOSTED_MCP, "mcp:s"),
        ({"type": "shell"}, P.CODE_EXECUTION, "shell"),
        ({"type": "shell", "environment": {"type": "container_auto"}}, P.CODE_EXECUTION, "shell"),
        ({"name": "f"}, P.UNKNOWN_TOOL, "tool without type"),
    ],
    Api.CHAT: [
        ({"type": "web_search", "web_search": {}}, P.WEB_SEARCH, "web_search"),
        ({"type": "mcp", "server_label": "s"}, P.HOSTED_MCP, "mcp:s"),
        ({"type": "builtin_function", "function": {"name": "$web_search"}}, P.UNKNOWN_TOOL, "builtin_function"),
    ],
}
CLIENT = {
    Api.ANTHROPIC: [
        {"name": "web_search", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "web_fetch", "input_schema": {}},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "memory_20250818", "name": "memory"},
    ],
    Api.RESPONSES: [
        FUNCTION,
        {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
        {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "namespace", "name": "n", "tools": [FUNCTION]},
    ],
    Api.CHAT: [{"type": "function", "function": {"name": "web_search"}}, {"type": "custom", "custom": {"name": "c"}}],
}


@pytest.mark.parametrize(("api", "tool", "kind", "name"), [(api, *one) for api, many in HOSTED.items() for one in many])
def test_a_provider_side_tool_is_taken_out_by_name(api, tool, kind, name):
    kept = CLIENT[api]
    value, stripped = prepared(api, {"model": "m", "tools": [kept[0], tool, *kept[1:]], "tool_choice": "auto"})
    assert value == {"model": "m", "tools": kept, "tool_choice": "auto"}
    assert stripped == [(kind, name, "tools[1]")]
    alone, _ = prepared(api, {"model": "m", "tools": [tool], "tool_choice": "auto"})
    assert alone == {"model": "m"}


@pytest.mark.parametrize("api", CLIENT)
def test_client_tools_keep_their_bytes(api):
    value = {"model": "m", "tools": CLIENT[api], "temperature": 0.1}
    if api is Api.RESPONSES:
        value["store"] = False
    sent = json.dumps(value, indent=1).encode()
    assert prepare(api, sent) == (sent, (), value, False)


@pytest.mark.parametrize(
    ("api", "choice", "left"),
    [
        (Api.ANTHROPIC, {"type": "tool", "name": "web_fetch"}, None),
        (Api.ANTHROPIC, {"type": "tool", "name": "web_search"}, {"type": "tool", "name": "web_search"}),
        (Api.RESPONSES, {"type": "image_generation"}, None),
        (Api.RESPONSES, {"type": "function", "name": "web_search"}, {"type": "function", "name": "web_search"}),
        (
            Api.RESPONSES,
            {
                "type": "allowed_tools",
                "tools": [{"type": "image_generation"}, {"type": "function", "name": "web_search"}],
            },
            {"type": "allowed_tools", "tools": [{"type": "function", "name": "web_search"}]},
        ),
        (Api.RESPONSES, {"type": "allowed_tools", "tools": [{"type": "image_generation"}]}, None),
    ],
)
def test_a_choice_of_what_was_taken_out_goes_too(api, choice, left):
    gone = {Api.ANTHROPIC: {"type": "web_fetch_1", "name": "web_fetch"}, Api.RESPONSES: {"type": "image_generation"}}
    value, _ = prepared(api, {"tools": [CLIENT[api][0], gone[api]], "tool_choice": choice})
    assert value.get("tool_choice") == left


def test_tools_hidden_in_a_namespace_or_a_search_result_are_found():
    hosted = {"type": "web_search"}
    value, stripped = prepared(
        Api.RESPONSES,
        {
            "tools": [
                {"type": "namespace", "name": "n", "tools": [FUNCTION, hosted]},
                {"type": "namespace", "tools": [hosted]},
            ],
            "input": [{"type": "tool_search_output", "tools": [hosted, FUNCTION]}],
        },
    )
    assert value["tools"] == [{"type": "namespace", "name": "n", "tools": [FUNCTION]}]
    assert value["input"][0]["tools"] == [FUNCTION]
    assert [one[2] for one in stripped] == ["tools[0].tools[1]", "tools[1].tools[0]", "tools[1]", "input[0].tools[0]"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("googleSearch", P.WEB_SEARCH),
        ("google_search", P.WEB_SEARCH),
        ("googleSearchRetrieval", P.WEB_SEARCH),
        ("googleMaps", P.WEB_SEARCH),
        ("urlContext", P.WEB_FETCH),
        ("url_context", P.WEB_FETCH),
        ("codeExecution", P.CODE_EXECUTION),
        ("computerUse", P.COMPUTER_USE),
        ("fileSearch", P.FILE_SEARCH),
        ("mcpServers", P.HOSTED_MCP),
        ("somethingNew", P.UNKNOWN_TOOL),
    ],
)
def test_gemini_keeps_declared_functions_only(name, kind):
    functions = {"functionDeclarations": [{"name": "googleSearch"}]}
    config = {"functionCallingConfig": {"mode": "AUTO"}}
    value, stripped = prepared(Api.GEMINI, {"tools": [functions | {name: {}}, {name: {}}], "toolConfig": config})
    assert value == {"tools": [functions], "toolConfig": config}
    assert stripped == [(kind, name, "tools[0]"), (kind, name, "tools[1]")]
    assert prepared(Api.GEMINI, {"tools": {name: {}}, "toolConfig": config})[0] == {}
    assert prepared(Api.GEMINI, {"tools": [[{name: {}}]]})[0] == {}


@pytest.mark.parametrize(
    ("api", "key", "setting", "kind"),
    [
        (Api.ANTHROPIC, "mcp_servers", [{"type": "url", "url": "https://x", "name": "n"}], P.HOSTED_MCP),
        (Api.ANTHROPIC, "container", {"skills": [{"skill_id": "xlsx"}]}, P.STORED_CONTEXT),
        (Api.RESPONSES, "prompt", {"id": "pmpt_1"}, P.STORED_CONTEXT),
        (Api.RESPONSES, "background", True, P.BACKGROUND),
        (Api.CHAT, "web_search_options", {"search_context_size": "low"}, P.WEB_SEARCH),
        (Api.CHAT, "enable_search", True, P.WEB_SEARCH),
        (Api.CHAT, "plugins", [{"id": "web"}], P.WEB_SEARCH),
        (Api.CHAT, "search_parameters", {"mode": "on"}, P.WEB_SEARCH),
        (Api.CHAT, "data_sources", [{"type": "azure_search"}], P.FILE_SEARCH),
        (Api.GEMINI, "cachedContent", "cachedContents/1", P.STORED_CONTEXT),
        (Api.GEMINI, "cached_content", "cachedContents/1", P.STORED_CONTEXT),
    ],
)
def test_a_setting_that_reaches_out_is_taken_out(api, key, setting, kind):
    assert prepared(api, {"model": "m", key: setting}) == ({"model": "m"}, [(kind, key, key)])


@pytest.mark.parametrize("api", [Api.RESPONSES, Api.CHAT])
def test_nothing_is_kept_with_the_provider(api):
    value, stripped = prepared(api, {"model": "m", "store": True})
    assert not value.get("store")
    assert stripped == [(Provided.STORED_CONTEXT, "store", "store")]


def test_empty_options_are_no_denial():
    sent = b'{"web_search_options": null, "enable_search": false}'
    assert prepare(Api.CHAT, sent)[:2] == (sent, ())
