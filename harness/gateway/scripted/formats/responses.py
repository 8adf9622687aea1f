"""OpenAI Responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer, arguments_read, arguments_text, event, pieces
from harness.gateway.scripted.asked import Asked, Call, Offered, Said, table, tables, texts, word
from harness.gateway.scripted.tokens import worded
from harness.gateway.wire import responses as wire

_CALLS = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
}
"""Items that are calls, by the kind of the tool."""
_ITEMS = {kind: item for item, kind in _CALLS.items()}


def asked(endpoint: Endpoint, body: Mapping[str, Any]) -> Asked:
    """Read a request; ValueError says what is missing."""
    facts = wire.facts(body)
    given = body.get("input")
    if facts.model is None or not isinstance(given, str | list):
        raise ValueError("model and input are required")
    items = tables([{"role": "user", "content": given}] if isinstance(given, str) else given)
    limit = body.get("max_output_tokens")
    output = table(table(body.get("text")).get("format"))
    return Asked(
        endpoint=endpoint,
        model=facts.model,
        effort=facts.effort,
        stream=facts.stream,
        # Codex gives newer models their tools in an item of the input.
        tools=tuple(tool for holder in (body, *items) for tool in _tools(holder.get("tools"))),
        past=tuple(_past(items)),
        system="\n".join((word(body.get("instructions")), *_texts(items, "system", "developer"))),
        users=tuple(_texts(items, "user")),
        limit=limit if isinstance(limit, int) else None,
        schema=output.get("schema") if isinstance(output.get("schema"), Mapping) else None,
        parallel=body.get("parallel_tool_calls") is not False,
        thinks=word(table(body.get("reasoning")).get("summary")) not in {"", "none"},
    )


def _tools(value: object) -> Iterator[Offered]:
    for one in tables(value):
        if one.get("type") == "namespace":
            for inner in tables(one.get("tools")):
                yield _tool(inner, word(one.get("name")))
        else:
            yield _tool(one, None)


def _tool(one: Mapping[str, Any], namespace: str | None) -> Offered:
    kind = word(one.get("type"))
    return Offered(
        name=word(one.get("name")) or kind,
        kind=kind,
        schema=table(one.get("parameters")),
        namespace=namespace,
        about=word(one.get("description")),
    )


def _texts(items: list[Mapping[str, Any]], *roles: str) -> Iterator[str]:
    """The texts of messages of these roles."""
    yield from (texts(one.get("content")) for one in items if _is_message(one) and one.get("role") in roles)


def _is_message(item: Mapping[str, Any]) -> bool:
    return word(item.get("type", "message")) == "message"


def _past(items: list[Mapping[str, Any]]) -> Iterator[Said]:
    """Items of the model that follow each other are one answer."""
    text, calls = "", list[Call]()
    for item in [*items, {"type": "end"}]:
        kind = word(item.get("type"))
        if kind in _CALLS:
            calls.append(_call(item, _CALLS[kind]))
        elif _is_message(item) and item.get("role") == "assistant":
            text = "\n".join(filter(None, (text, texts(item.get("content")))))
        elif kind != "reasoning":
            if text or calls:
                yield Said(text, tuple(calls))
            text, calls = "", []


def _call(item: Mapping[str, Any], kind: str) -> Call:
    given: object = next((item[name] for name in ("arguments", "input", "action", "operation") if name in item), {})
    arguments = given if isinstance(given, str) and kind == "custom" else arguments_read(given)
    return Call(word(item.get("name")) or kind, arguments, kind, word(item.get("call_id")))


def whole(answer: Answer) -> dict[str, Any]:
    """A whole response."""
    return _response(answer, "completed", [_item(answer, number) for number in range(len(_parts(answer)))])


def events(answer: Answer) -> list[bytes]:
    """The stream of a response; every event has its number."""
    return [event(one | {"sequence_number": n}, one["type"]) for n, one in enumerate(_events(answer))]


def _events(answer: Answer) -> Iterator[dict[str, Any]]:
    opening = _response(answer, "in_progress", [])
    yield {"type": "response.created", "response": opening}
    yield {"type": "response.in_progress", "response": opening}
    done = []
    for number, part in enumerate(_parts(answer)):
        item = _item(answer, number)
        at = {"output_index": number}
        start = _opened(item, part)
        yield {"type": "response.output_item.added", "item": start} | at
        yield from _deltas(answer, item, part, at | {"item_id": item["id"]})
        yield {"type": "response.output_item.done", "item": item} | at
        done.append(item)
    yield {"type": "response.completed", "response": _response(answer, "completed", done)}


def _parts(answer: Answer) -> list[Call | str]:
    """What it is made of: ``think``, ``say``, and calls."""
    parts: list[Call | str] = ["think"] if answer.think else []
    parts += ["say"] if answer.step.say else []
    return [*parts, *answer.step.calls]


def _item(answer: Answer, number: int) -> dict[str, Any]:
    part = _parts(answer)[number]
    tail = f"{answer.id}_{number}"
    if part == "think":
        return {"id": f"rs_{tail}", "type": "reasoning", "summary": [_summary(answer.think)]}
    if isinstance(part, str):
        head = {"id": f"msg_{tail}", "type": "message", "role": "assistant", "status": "completed"}
        return head | {"content": [_content(answer)]}
    kind = part.kind if part.kind in _ITEMS else "function"
    head = {"id": f"fc_{tail}", "type": _ITEMS[kind], "status": "completed", "call_id": f"call_{part.id}"}
    if part.namespace is not None:
        head["namespace"] = part.namespace
    match kind:
        case "local_shell":
            action: dict[str, Any] = {
                "type": "exec",
                "env": {},
                "timeout_ms": None,
                "user": None,
                "working_directory": None,
            }
            return head | {"action": action | dict(table(part.arguments))}
        case "shell":
            return head | {"action": {"timeout_ms": None, "max_output_length": None} | dict(table(part.arguments))}
        case "apply_patch":
            return head | {"operation": part.arguments}
        case "custom":
            return head | {"name": part.name, "input": arguments_text(part)}
        case _:
            return head | {"name": part.name, "arguments": arguments_text(part)}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _content(answer: Answer) -> dict[str, Any]:
    if answer.step.refuse:
        return {"type": "refusal", "refusal": answer.step.say}
    return {"type": "output_text", "text": answer.step.say, "annotations": [], "logprobs": []}


def _opened(item: dict[str, Any], part: Call | str) -> dict[str, Any]:
    """An item before its deltas."""
    if part == "think":
        return item | {"summary": []}
    empty = {"content", "arguments", "input"} & set(item)
    blank = {name: [] if name == "content" else "" for name in empty}
    return item | blank | {"status": "in_progress"}


def _deltas(answer: Answer, item: dict[str, Any], part: Call | str, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if part == "think":
        at = at | {"summary_index": 0}
        yield {"type": "response.reasoning_summary_part.added", "part": _summary("")} | at
        for piece in pieces(answer.think):
            yield {"type": "response.reasoning_summary_text.delta", "delta": piece} | at
        yield {"type": "response.reasoning_summary_text.done", "text": answer.think} | at
        yield {"type": "response.reasoning_summary_part.done", "part": _summary(answer.think)} | at
    elif isinstance(part, str):
        yield from _said(answer, at | {"content_index": 0})
    elif "arguments" in item:
        for piece in pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", "delta": piece} | at
        yield {
            "type": "response.function_call_arguments.done",
            "arguments": item["arguments"],
            "name": part.name,
        } | at
    elif "input" in item:
        for piece in pieces(item["input"]):
            yield {"type": "response.custom_tool_call_input.delta", "delta": piece} | at
        yield {"type": "response.custom_tool_call_input.done", "input": item["input"]} | at


def _said(answer: Answer, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    part = _content(answer)
    name = "refusal" if answer.step.refuse else "text"
    kind = "response.refusal" if answer.step.refuse else "response.output_text"
    extra: dict[str, Any] = {} if answer.step.refuse else {"logprobs": []}
    yield {"type": "response.content_part.added", "part": part | {name: ""}} | at
    for piece in pieces(answer.step.say):
        yield {"type": f"{kind}.delta", "delta": piece} | extra | at
    yield {"type": f"{kind}.done", name: answer.step.say} | extra | at
    yield {"type": "response.content_part.done", "part": part} | at


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": answer.created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": worded(Api.RESPONSES, answer.tokens) if status == "completed" else None,
        "user": None,
    }
