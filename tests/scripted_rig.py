"""The scripted provider with the official clients at it, and what its bytes say to our own meter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.gateway.decode import json_value
from harness.gateway.meter import Meter
from harness.gateway.records import Api, Metered
from harness.gateway.scripted import formats
from harness.gateway.scripted.answer import Answer, compact
from harness.gateway.scripted.asked import Asked, Offered, Said
from harness.gateway.scripted.plan import next_step
from harness.gateway.scripted.read import parse_script
from harness.gateway.scripted.script import Script
from harness.gateway.wire import match, reading

MODEL = "scripted-1"

PATHS = {
    Api.ANTHROPIC: "/v1/messages",
    Api.RESPONSES: "/v1/responses",
    Api.CHAT: "/v1/chat/completions",
    Api.GEMINI: f"/v1beta/models/{MODEL}:generateContent",
}


def script(text: str) -> Script:
    """A script from its YAML."""
    return parse_script(text.encode())


def path_of(api: Api, *, stream: bool = False, events: bool = True) -> str:
    """The path of a request."""
    if api is not Api.GEMINI or not stream:
        return PATHS[api]
    return f"/v1beta/models/{MODEL}:streamGenerateContent" + ("?alt=sse" if events else "")


def schema(**properties: str) -> dict[str, Any]:
    """A schema of texts that are all required."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }


BASH = {"name": "Bash", "schema": schema(command="string")}
WRITE = {"name": "Write", "schema": schema(file_path="string", content="string")}


def body_of(api: Api, *users: str, tools: tuple[dict[str, Any], ...] = (), stream: bool = False) -> dict[str, Any]:
    """A request's body with nothing but a prompt and tools."""
    match api:
        case Api.ANTHROPIC:
            body: dict[str, Any] = {"model": MODEL, "max_tokens": 1000, "messages": [_user(one) for one in users]}
            body["tools"] = [{"name": one["name"], "input_schema": one["schema"]} for one in tools]
        case Api.RESPONSES:
            body = {"model": MODEL, "input": [_user(one) for one in users]}
            body["tools"] = [{"type": "function", "name": one["name"], "parameters": one["schema"]} for one in tools]
        case Api.CHAT:
            body = {"model": MODEL, "messages": [_user(one) for one in users]}
            functions = [{"name": one["name"], "parameters": one["schema"]} for one in tools]
            body["tools"] = [{"type": "function", "function": one} for one in functions]
            if stream:
                body["stream_options"] = {"include_usage": True}
        case Api.GEMINI:
            body = {"contents": [{"role": "user", "parts": [{"text": one}]} for one in users]}
            named = [{"name": one["name"], "parametersJsonSchema": one["schema"]} for one in tools]
            body["tools"] = [{"functionDeclarations": named}]
    if not tools:
        del body["tools"]
    if stream and api is not Api.GEMINI:
        body["stream"] = True
    return body


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def read(api: Api, body: dict[str, Any], *, stream: bool = False, events: bool = True) -> Asked:
    """A request as the provider reads it."""
    path = path_of(api, stream=stream, events=events)
    endpoint = match("POST", path)
    assert endpoint is not None
    return formats.asked(endpoint, path, body)


def wire_bytes(api: Api, answer: Answer, asked: Asked) -> bytes:
    """An answer's bytes."""
    if asked.stream:
        return b"".join(formats.events(api, answer, asked))
    return compact(formats.whole(api, answer)).encode()


def metered(api: Api, data: bytes, coding: str = "") -> Metered:
    """What our own meter reads off them."""
    meter = Meter(reading(api), coding)
    meter.feed(data)
    return meter.close()


def said(api: Api, asked: Asked, data: bytes) -> dict[str, Any]:
    """The message or the chunk in which an answer's bytes end."""
    if not asked.stream:
        found: dict[str, Any] = json_value(data)
        return found
    if not asked.events:
        chunks: list[dict[str, Any]] = json_value(data)
        return chunks[-1]
    return list(stream_values(data))[-1]


def stream_values(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a stream's events."""
    for line in data.decode().splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def asked(tools=(), past=(), system="", **more):
    """A request with these tools, after these answers."""
    found = read(Api.ANTHROPIC, body_of(Api.ANTHROPIC, "do it"))
    return replace(found, tools=tuple(tools), past=tuple(past), system=system, **more)


def text(**more):
    """A property that is a text."""
    return {"type": "string", **more}


def function(name, required, **properties):
    """A tool as a client offers it."""
    return Offered(name, schema={"type": "object", "properties": properties, "required": required})


CLAUDE = (
    function("Task", ["description", "prompt"], description=text(), prompt=text()),
    function("Bash", ["command"], command=text(), timeout={"type": "number"}, description=text()),
    function("Edit", ["file_path"], file_path=text(), old_string=text(), new_string=text()),
    function("Write", ["file_path", "content"], file_path=text(), content=text()),
)
CODEX = (
    function("exec_command", ["cmd"], cmd=text(), workdir=text(), yield_time_ms={"type": "number"}),
    function("write_stdin", ["session_id"], session_id={"type": "number"}, chars=text()),
    Offered("apply_patch", "custom"),
)
CODEX_SHELL = (function("shell", ["command"], command={"type": "array", "items": text()}, workdir=text()),)
CODEX_LOCAL = (Offered("local_shell", "local_shell"),)
CODEX_CODE = (Offered("exec", "custom"), function("wait", ["cell_id"], cell_id=text()))
GEMINI = (
    function("replace", ["file_path"], file_path=text(), old_string=text(), new_string=text()),
    function("write_file", ["file_path", "content"], file_path=text(), content=text()),
    function("run_shell_command", ["command"], command=text(), description=text(), dir_path=text()),
)
OPENCODE = (
    function("bash", ["command", "description"], command=text(), timeout={"type": "number"}, description=text()),
    function("edit", ["filePath"], filePath=text(), oldString=text(), newString=text()),
    function("write", ["filePath", "content"], filePath=text(), content=text()),
)
QWEN = (
    function("write_file", ["file_path", "content"], file_path=text(), content=text()),
    function("run_shell_command", ["command", "is_background"], command=text(), is_background={"type": "boolean"}),
)
MINI = (function("bash", ["command"], command=text()),)
VENDOR = (Offered("bash", "bash_20250124"), Offered("str_replace_based_edit_tool", "text_editor_20250728"))
STRANGER = (
    function("look", ["command"], command=text(enum=["view", "create"]), path=text()),
    function("do_it", ["script", "reason", "times"], script=text(), reason=text(), times={"type": "integer"}),
)


def steps(script, **request):
    """Every answer to a client that goes on until an answer calls nothing and says nothing new."""
    past, found = [], []
    while len(found) < 20:
        step = next_step(script, asked(past=past, **request))
        if found and (step.turn, step.part) == (found[-1].turn, found[-1].part):
            return found
        found.append(step)
        past.append(Said(step.say, step.calls))
    raise AssertionError("it never ends")
