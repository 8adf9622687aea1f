"""OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer, arguments_read, arguments_text, event, pieces
from harness.gateway.scripted.asked import Asked, Call, Offered, Said, table, tables, texts, word
from harness.gateway.scripted.tokens import worded
from harness.gateway.wire import chat as wire


def asked(endpoint: Endpoint, body: Mapping[str, Any]) -> Asked:
    """Read a request; ValueError says what is missing."""
    facts = wire.facts(body)
    messages = body.get("messages")
    if facts.model is None or not isinstance(messages, list):
        raise ValueError("model and messages are required")
    limits = (body.get(name) for name in ("max_completion_tokens", "max_tokens"))
    output = table(body.get("response_format"))
    schema = table(output.get("json_schema")).get("schema")
    if output.get("type") == "json_object":
        schema = {"type": "object"}
    by_role = [(word(one.get("role")), one) for one in tables(messages)]
    return Asked(
        endpoint=endpoint,
        model=facts.model,
        effort=facts.effort,
        stream=facts.stream,
        tools=tuple(_tool(one) for one in tables(body.get("tools"))),
        past=tuple(_said(one) for role, one in by_role if role == "assistant"),
        system="\n".join(texts(one.get("content")) for role, one in by_role if role in {"system", "developer"}),
        users=tuple(texts(one.get("content")) for role, one in by_role if role == "user"),
        limit=next((one for one in limits if isinstance(one, int)), None),
        schema=schema if isinstance(schema, Mapping) else None,
        parallel=body.get("parallel_tool_calls") is not False,
        thinks=True,
        usage_chunk=table(body.get("stream_options")).get("include_usage") is True,
    )


def _tool(one: Mapping[str, Any]) -> Offered:
    kind = word(one.get("type")) or "function"
    inner = table(one.get(kind))
    return Offered(
        name=word(inner.get("name")) or kind,
        kind=kind,
        schema=table(inner.get("parameters")),
        about=word(inner.get("description")),
    )


def _said(message: Mapping[str, Any]) -> Said:
    calls = []
    for one in tables(message.get("tool_calls")):
        kind = word(one.get("type")) or "function"
        inner = table(one.get(kind))
        given = inner.get("input") if kind == "custom" else arguments_read(inner.get("arguments"))
        calls.append(Call(word(inner.get("name")), given or {}, kind, word(one.get("id"))))
    return Said(texts(message.get("content")), tuple(calls))


def whole(answer: Answer) -> dict[str, Any]:
    """A whole completion."""
    step = answer.step
    message: dict[str, Any] = {"role": "assistant", "content": step.say or None, "refusal": None, "annotations": []}
    if step.refuse:
        message |= {"content": None, "refusal": step.say}
    if answer.think:
        message["reasoning_content"] = answer.think
    if step.calls:
        message["tool_calls"] = [_call(call, arguments_text(call)) for call in step.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
    return _head(answer, "chat.completion") | {"choices": [choice], "usage": worded(Api.CHAT, answer.tokens)}


def events(answer: Answer, *, usage_chunk: bool) -> list[bytes]:
    """The stream of a completion; its usage comes in a chunk of its own, if asked for."""
    head = _head(answer, "chat.completion.chunk")
    usage: dict[str, Any] = {"usage": None} if usage_chunk else {}
    chunks = [event(head | {"choices": [choice]} | usage) for choice in _choices(answer)]
    if usage_chunk:
        chunks.append(event(head | {"choices": [], "usage": worded(Api.CHAT, answer.tokens)}))
    return [*chunks, b"data: [DONE]\n\n"]


def _choices(answer: Answer) -> Iterator[dict[str, Any]]:
    for delta in _deltas(answer):
        yield {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    yield {"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(answer)}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if answer.step.calls and not answer.step.say else "", "refusal": None}
    yield from ({"reasoning_content": piece} for piece in pieces(answer.think))
    name = "refusal" if answer.step.refuse else "content"
    yield from ({name: piece} for piece in pieces(answer.step.say))
    for index, call in enumerate(answer.step.calls):
        yield {"tool_calls": [{"index": index} | _call(call, "")]}
        field, inner = ("custom", "input") if call.kind == "custom" else ("function", "arguments")
        for piece in pieces(arguments_text(call)):
            yield {"tool_calls": [{"index": index, field: {inner: piece}}]}


def _call(call: Call, arguments: str) -> dict[str, Any]:
    if call.kind == "custom":
        return {"id": f"call_{call.id}", "type": "custom", "custom": {"name": call.name, "input": arguments}}
    return {"id": f"call_{call.id}", "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.id}",
        "object": kind,
        "created": answer.created,
        "model": answer.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.step.calls else "stop"
