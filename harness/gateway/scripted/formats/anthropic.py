"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer, Problem, arguments_read, arguments_text, event, pieces
from harness.gateway.scripted.asked import Asked, Call, Offered, Said, table, tables, texts, word
from harness.gateway.scripted.tokens import worded
from harness.gateway.wire import anthropic as wire

_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    404: "not_found_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def asked(endpoint: Endpoint, body: Mapping[str, Any]) -> Asked:
    """Read a request; ValueError says what is missing."""
    facts = wire.facts(body)
    messages = body.get("messages")
    if facts.model is None or not isinstance(messages, list):
        raise ValueError("model and messages are required")
    limit = body.get("max_tokens")
    if endpoint.billed and not isinstance(limit, int):
        raise ValueError("max_tokens is required")
    output = table(table(body.get("output_config")).get("format")) or table(body.get("output_format"))
    return Asked(
        endpoint=endpoint,
        model=facts.model,
        effort=facts.effort,
        stream=facts.stream and endpoint.billed,
        tools=tuple(_tool(one) for one in tables(body.get("tools"))),
        past=tuple(_said(one.get("content")) for one in tables(messages) if one.get("role") == "assistant"),
        system=texts(body.get("system")),
        users=tuple(texts(one.get("content")) for one in tables(messages) if one.get("role") != "assistant"),
        limit=limit if isinstance(limit, int) else None,
        schema=output.get("schema") if isinstance(output.get("schema"), Mapping) else None,
        parallel=table(body.get("tool_choice")).get("disable_parallel_tool_use") is not True,
        thinks=word(table(body.get("thinking")).get("type")) in {"enabled", "adaptive"},
    )


def _tool(one: Mapping[str, Any]) -> Offered:
    kind = word(one.get("type"))
    return Offered(
        name=word(one.get("name")),
        kind="function" if kind in {"", "custom"} else kind,
        schema=table(one.get("input_schema")),
        about=word(one.get("description")),
    )


def _said(content: object) -> Said:
    calls = [
        Call(word(one.get("name")), arguments_read(one.get("input")), id=word(one.get("id")))
        for one in tables(content)
        if one.get("type") == "tool_use"
    ]
    return Said(texts(content), tuple(calls))


def whole(answer: Answer) -> dict[str, Any]:
    """A whole message."""
    return _message(answer) | {
        "content": [block for block, _ in _blocks(answer)],
        "stop_reason": _stop(answer),
        "usage": worded(Api.ANTHROPIC, answer.tokens),
    }


def events(answer: Answer) -> list[bytes]:
    """The stream of a message."""
    return [event(one, one["type"]) for one in _events(answer)]


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    usage = worded(Api.ANTHROPIC, answer.tokens)
    # As the provider does: the output is a placeholder here, and stated at the end.
    start = _message(answer) | {"usage": usage | {"output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, (block, deltas) in enumerate(_blocks(answer)):
        yield {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    stated = {name: value for name, value in usage.items() if name.endswith("_tokens")}
    yield {"type": "message_delta", "delta": {"stop_reason": _stop(answer), "stop_sequence": None}, "usage": stated}
    yield {"type": "message_stop"}


def _message(answer: Answer) -> dict[str, Any]:
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block, and the deltas that make it of an empty one."""
    if answer.think:
        signature = f"scripted{answer.id}"
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(answer.think)]
        yield (
            {"type": "thinking", "thinking": answer.think, "signature": signature},
            [*deltas, {"type": "signature_delta", "signature": signature}],
        )
    if answer.step.say:
        say = [{"type": "text_delta", "text": piece} for piece in pieces(answer.step.say)]
        yield {"type": "text", "text": answer.step.say}, say
    for call in answer.step.calls:
        block = {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.arguments}
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments_text(call))]
        yield block, [{"type": "input_json_delta", "partial_json": ""}, *parts]


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    match block["type"]:
        case "thinking":
            return block | {"thinking": "", "signature": ""}
        case "text":
            return block | {"text": ""}
        case _:
            return block | {"input": {}}


def _stop(answer: Answer) -> str:
    if answer.step.refuse:
        return "refusal"
    return "tool_use" if answer.step.calls else "end_turn"


def error(problem: Problem, request_id: str) -> dict[str, Any]:
    """An error's body."""
    kind = problem.name or _ERRORS.get(problem.status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": problem.message}, "request_id": request_id}
