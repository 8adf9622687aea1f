"""Gemini generateContent."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted.answer import Answer, Problem, arguments_read, compact, event, pieces
from harness.gateway.scripted.asked import Asked, Call, Offered, Said, table, tables, texts, word
from harness.gateway.scripted.tokens import worded
from harness.gateway.wire import gemini as wire

_ERRORS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "RESOURCE_EXHAUSTED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
}

_PROMPT = ("promptTokenCount", "cachedContentTokenCount")
"""What a chunk before the last states."""


def asked(endpoint: Endpoint, path: str, body: Mapping[str, Any]) -> Asked:
    """Read a request, whose path says how to stream; ValueError says what is missing."""
    body = table(_get(body, "generateContentRequest")) or body
    contents = body.get("contents")
    turns = tables(contents if isinstance(contents, list) else [contents])
    if not turns:
        raise ValueError("contents is required")
    facts = wire.facts(body, endpoint)
    config = table(_get(body, "generationConfig"))
    limit = _get(config, "maxOutputTokens")
    schema = _get(config, "responseJsonSchema") or _get(config, "responseSchema")
    if schema is None and _get(config, "responseMimeType") == "application/json":
        schema = {"type": "object"}
    return Asked(
        endpoint=endpoint,
        model=facts.model,
        effort=facts.effort,
        stream=facts.stream,
        tools=tuple(_tools(body.get("tools"))),
        past=tuple(_said(one) for one in turns if one.get("role") == "model"),
        system=texts(table(_get(body, "systemInstruction")).get("parts")),
        users=tuple(texts(one.get("parts")) for one in turns if one.get("role") != "model"),
        limit=limit if isinstance(limit, int) else None,
        schema=schema if isinstance(schema, Mapping) else None,
        thinks=_get(table(_get(config, "thinkingConfig")), "includeThoughts") is True,
        events=wire.wants_events(path),
    )


def _get(value: Mapping[str, Any], name: str) -> Any:
    """A field under either of the two names that the API takes: ``functionCall`` or ``function_call``."""
    found = value.get(name)
    return value.get(re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)) if found is None else found


def _tools(value: object) -> Iterator[Offered]:
    for tool in tables(value if isinstance(value, list) else [value]):
        for name, inner in tool.items():
            if name not in {"functionDeclarations", "function_declarations"}:
                yield Offered(name, name)
                continue
            for one in tables(inner):
                schema = table(_get(one, "parametersJsonSchema")) or table(one.get("parameters"))
                yield Offered(word(one.get("name")), schema=schema, about=word(one.get("description")))


def _said(content: Mapping[str, Any]) -> Said:
    calls, said = [], []
    for part in tables(content.get("parts")):
        call = table(_get(part, "functionCall"))
        if call:
            calls.append(Call(word(call.get("name")), arguments_read(call.get("args")), id=word(call.get("id"))))
        elif not part.get("thought"):
            said.append(word(part.get("text")))
    return Said("".join(said), tuple(calls))


def whole(answer: Answer) -> dict[str, Any]:
    """A whole answer."""
    return _chunk(answer, [part for one in _parts(answer, whole=True) for part in one], last=True)


def events(answer: Answer, *, as_events: bool) -> list[bytes]:
    """The stream of an answer: events, or one JSON array that is sent piece by piece."""
    groups = list(_parts(answer, whole=False)) or [[]]
    chunks = [_chunk(answer, group, last=at == len(groups) - 1) for at, group in enumerate(groups)]
    if as_events:
        return [event(chunk, end="\r\n") for chunk in chunks]
    joined = [f"{'[' if at == 0 else ','}{compact(chunk)}\r\n" for at, chunk in enumerate(chunks)]
    return [one.encode() for one in (*joined, "]")]


def _parts(answer: Answer, *, whole: bool) -> Iterator[list[dict[str, Any]]]:
    """The parts of each chunk."""
    for text, extra in ((answer.think, {"thought": True}), (answer.step.say, {})):
        yield from ([{"text": piece} | extra] for piece in ([text] if whole and text else pieces(text)))
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": f"call_{call.id}", "name": call.name, "args": call.arguments}}
        for call in answer.step.calls
    ]
    if calls:
        # The first call of an answer carries the signature that a client gives back with it.
        calls[0] |= {"thoughtSignature": base64.b64encode(f"scripted {answer.id}".encode()).decode()}
        yield calls


def _chunk(answer: Answer, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    usage = worded(Api.GEMINI, answer.tokens)
    if not last:
        stated = {name: value for name, value in usage.items() if name in _PROMPT}
        usage = stated | {"totalTokenCount": usage["promptTokenCount"]}
    content: dict[str, Any] = {"role": "model"} | ({"parts": parts} if parts else {})
    candidate: dict[str, Any] = {"content": content, "index": 0}
    if last:
        candidate["finishReason"] = "SAFETY" if answer.step.refuse else "STOP"
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": answer.model,
        "responseId": answer.id,
    }


def error(problem: Problem) -> dict[str, Any]:
    """An error's body; there is no request id in it."""
    status = problem.name or _ERRORS.get(problem.status, "UNKNOWN")
    return {"error": {"code": problem.status, "message": problem.message, "status": status}}
