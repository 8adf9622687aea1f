"""The logs of agents as events: one object at a time, each known by its own shape. Pure functions of JSON values.

Claude Code's session files and stream-json, Codex's rollouts and ``exec --json``, chat messages as OpenAI, Anthropic,
mini-swe-agent and SWE-agent write them, and steps of ATIF. A log may mix them; what has none of these shapes is
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audits.transcripts.events import Call, Event, Result, Said
from harness.trajectories.values import arguments, get, loads, objects, shown, text

CLAUDE, CODEX, ATIF, MINI, SWE_AGENT, CHAT = (
    "claude-code",
    "codex",
    "atif",
    "mini-swe-agent",
    "swe-agent",
    "chat messages",
)

_QUIET = frozenset(
    """
    summary system result progress attachment queue-operation file-history-snapshot rate_limit_event
    stream_event custom-title agent-name last-prompt permission-mode ai-title mode
    """.split()  # noqa: SIM905 - words read best as words
)
_CODEX_LINES = {"session_meta", "turn_context", "event_msg", "response_item", "compacted", "token_usage_record"}
_CODEX_RESULTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
_FENCE = re.compile(r"```(?:mswea_bash_command|bash|sh)\s*\n(.*?)\n?```", re.DOTALL)
_RETURNED = re.compile(
    r"<returncode>\s*(-?\d+)|[\"']?(?:returncode|exit_code)[\"']?\s*[:=]\s*(-?\d+)|^Exit code:\s*(-?\d+)", re.MULTILINE
)


def read_object(value: dict[str, Any], within: str = "") -> tuple[str, list[Event]] | None:
    """The format that an object is of, and its events; None for one of no known shape.

    *within* is the name of the list that it lies in: ``steps``, ``messages``, ``trajectory``; empty for a line of its
    own.
    """
    kind = text(value.get("type"))
    if within == "trajectory" or ("action" in value and "observation" in value):
        return SWE_AGENT, list(_swe_agent(value))
    if "source" in value and ("step_id" in value or within == "steps"):
        return ATIF, list(_atif(value))
    if isinstance(value.get("payload"), dict) and (kind in _CODEX_LINES or "timestamp" in value):
        return CODEX, list(_codex(value["payload"], kind))
    if kind.startswith(("item.", "thread.", "turn.")):
        return CODEX, list(_codex_event(value, kind))
    if kind in {"user", "assistant"} and isinstance(value.get("message"), dict):
        return CLAUDE, list(_anthropic(value["message"], kind))
    if kind in _QUIET or (kind and isinstance(value.get("sessionId"), str)):
        return CLAUDE, []  # of settings, costs and requests, which say nothing that the messages do not
    if "role" in value:
        mini = "extra" in value or within == "messages"
        return (MINI if mini else CHAT), list(_message(value))
    return None


def _anthropic(message: dict[str, Any], role: str) -> Iterator[Event]:
    content = message.get("content")
    source = "agent" if role == "assistant" else "user"
    if isinstance(content, str):
        yield Said("agent" if source == "agent" else "user", text(content))
    for part in objects(content):
        match part.get("type"):
            case "text":
                yield Said("agent" if source == "agent" else "user", text(part.get("text")))
            case "thinking":
                yield Said("agent", text(part.get("thinking")))
            case "tool_use":
                yield Call(text(part.get("name")), arguments(part.get("input")), text(part.get("id")))
            case "server_tool_use" | "mcp_tool_use":
                yield Call(f"provider:{text(part.get('name'))}", arguments(part.get("input")), text(part.get("id")))
            case "tool_result":
                failed = part.get("is_error")
                yield Result(
                    shown(part.get("content")),
                    text(part.get("tool_use_id")),
                    failed if isinstance(failed, bool) else None,
                )
            case str(other) if other.endswith("_tool_result"):
                yield Result(shown(part.get("content")), text(part.get("tool_use_id")))


def _codex(payload: Any, kind: str) -> Iterator[Event]:
    if kind == "compacted":
        yield Said("agent", text(get(payload, "message")))
    if kind != "response_item" or not isinstance(payload, dict):
        return
    match payload.get("type"):
        case "message":
            said = "".join(text(part.get("text")) for part in objects(payload.get("content")))
            role = text(payload.get("role"))
            yield Said("agent" if role == "assistant" else "user" if role == "user" else "system", said)
        case "reasoning":
            yield Said("agent", "\n".join(text(one.get("text")) for one in objects(payload.get("summary"))))
        case "function_call":
            yield Call(text(payload.get("name")), arguments(payload.get("arguments")), text(payload.get("call_id")))
        case "custom_tool_call":
            yield Call(text(payload.get("name")), arguments(payload.get("input")), text(payload.get("call_id")))
        case "local_shell_call":
            yield Call("local_shell", arguments(payload.get("action")), text(payload.get("call_id")))
        case "web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call":
            done = payload.get("status") == "completed"
            name = text(payload.get("id")) or "search"
            yield Call(f"provider:{payload['type']}", arguments(payload.get("action")), name)
            if done:
                yield Result("completed", name)
        case str(other) if other in _CODEX_RESULTS:
            output = payload.get("output")
            inner = loads(output) if isinstance(output, str) else output
            code = get(inner, "metadata", "exit_code")
            said = get(inner, "output") or get(inner, "content")
            failed = code != 0 if isinstance(code, int) else None
            yield Result(shown(said if said is not None else output), text(payload.get("call_id")), failed)


def _codex_event(value: dict[str, Any], kind: str) -> Iterator[Event]:
    """A line of ``codex exec --json``; only ended items say all of themselves."""
    item = value.get("item")
    if not isinstance(item, dict):
        return
    name = text(item.get("id"))
    match item.get("type"):
        case "command_execution":
            if kind == "item.started":
                yield Call("shell", {"command": item.get("command")}, name)
            elif kind == "item.completed":
                code = item.get("exit_code")
                yield Call("shell", {"command": item.get("command")}, name)
                failed = code != 0 if isinstance(code, int) else None
                yield Result(text(item.get("aggregated_output")), name, failed)
        case "agent_message" | "reasoning" if kind == "item.completed":
            yield Said("agent", text(item.get("text")))
        case "web_search" if kind == "item.completed":
            yield Call("provider:web_search", {"query": item.get("query")}, name)
            yield Result("completed", name)
        case "file_change" if kind == "item.completed":
            for one in objects(item.get("changes")):
                yield Call("write_file", {"file_path": one.get("path")}, f"{name}/{text(one.get('path'))}")
        case "mcp_tool_call" if kind == "item.completed":
            yield Call(text(item.get("tool")), arguments(item.get("arguments")), name)


def _atif(step: dict[str, Any]) -> Iterator[Event]:
    source = step.get("source")
    said = shown(step.get("message"))
    yield Said("agent" if source == "agent" else "user" if source == "user" else "system", said)
    if step.get("reasoning_content"):
        yield Said("agent", text(step.get("reasoning_content")))
    names = []
    for call in objects(step.get("tool_calls")):
        names.append(text(call.get("tool_call_id")))
        yield Call(text(call.get("function_name")), arguments(call.get("arguments")), names[-1])
    for number, one in enumerate(objects(get(step, "observation", "results"))):
        content = shown(one.get("content"))
        # A result need not say whose it is: then it is that of the call in its place.
        name = text(one.get("source_call_id")) or (names[number] if number < len(names) else "")
        yield Result(content, name, _failed(content))


def _swe_agent(item: dict[str, Any]) -> Iterator[Event]:
    for key in ("thought", "response"):
        if item.get(key):
            yield Said("agent", text(item.get(key)))
    action = item.get("action")
    if isinstance(action, str) and action.strip():
        yield Call("bash", {"command": action})
        observed = item.get("observation")
        if observed is not None:
            yield Result(shown(observed), "", _failed(shown(observed)))


def _message(message: dict[str, Any]) -> Iterator[Event]:
    """A chat message of any of the usual forms. What follows a fenced command is its result."""
    role, content = text(message.get("role")), message.get("content")
    if isinstance(content, list) and any(text(one.get("type")).startswith("tool_") for one in objects(content)):
        yield from _anthropic(message, role)
        return
    said = shown(content)
    match role:
        case "assistant":
            yield Said("agent", said)
            calls = list(_calls(message))
            actions = objects(get(message, "extra", "actions"))
            if not calls and actions:
                calls = [
                    Call("bash", {"command": one.get("command")}, text(one.get("tool_call_id"))) for one in actions
                ]
            if not calls:
                calls = [Call("bash", {"command": found}) for found in _FENCE.findall(said)[:20]]
            yield from calls
        case "tool" | "function":
            yield Result(said, text(message.get("tool_call_id")), _failed(said))
        case "user":
            yield Said("user", said)
            yield Result(said, "", _failed(said))
        case "system" | "developer":
            yield Said("system", said)


def _calls(message: dict[str, Any]) -> Iterator[Call]:
    for call in objects(message.get("tool_calls")):
        function = call.get("function")
        yield Call(text(get(function, "name")), arguments(get(function, "arguments")), text(call.get("id")))
    function = message.get("function_call")
    if isinstance(function, dict):
        yield Call(text(function.get("name")), arguments(function.get("arguments")))


def _failed(said: str) -> bool | None:
    found = _RETURNED.search(said[:4096]) or _RETURNED.search(said[-1024:])
    return None if found is None else next(one for one in found.groups() if one is not None) != "0"
