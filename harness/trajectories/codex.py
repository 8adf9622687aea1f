"""Codex: JSON lines of a rollout file. Its ``response_item`` lines are what went over the wire, in order."""

from __future__ import annotations

from typing import Any

from harness.trajectories.draft import Draft, Turn
from harness.trajectories.values import count, get, lines, objects, shown, text, when

_OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}


def read(data: bytes, draft: Draft) -> None:
    """Add what the lines hold. Answers are told apart by the token counts between them."""
    model = effort = None
    turn: Turn | None = None
    for line in lines(data):
        if line is None:
            draft.lose()
            continue
        payload, at = line.get("payload"), when(line.get("timestamp"))
        match line.get("type"):
            case "session_meta":
                draft.session = text(get(payload, "id")) or None
            case "turn_context":
                model, effort = text(get(payload, "model")) or model, text(get(payload, "effort")) or effort
            case "response_item" if text(get(payload, "type")) in _OUTPUTS:
                draft.observe(get(payload, "call_id"), _output(get(payload, "output")))
                turn = None
            case "response_item" if get(payload, "type") == "message" and get(payload, "role") != "assistant":
                draft.say("user" if get(payload, "role") == "user" else "system", _text(payload), at)
            case "response_item":
                if turn is None:
                    turn = draft.agent(None, at)
                    turn.model, turn.effort = model, effort
                _item(payload, turn)
            case "token_usage_record":
                if turn is not None:
                    _use(get(payload, "usage"), turn)
                    turn = None
            case "event_msg" if get(payload, "type") == "token_count":
                last = next((one for one in reversed(draft.turns) if one.source == "agent"), None)
                if last is not None and last.metrics is None:
                    _use(get(payload, "info", "last_token_usage"), last)
                turn = None


def _item(payload: Any, turn: Turn) -> None:
    match get(payload, "type"):
        case "message":
            turn.texts.append(_text(payload))
        case "reasoning":
            turn.thoughts += [text(one.get("text")) for one in objects(get(payload, "summary"))]
        case "function_call":
            turn.call(get(payload, "call_id"), get(payload, "name"), get(payload, "arguments"))
        case "custom_tool_call":
            turn.call(get(payload, "call_id"), get(payload, "name"), get(payload, "input"))
        case "local_shell_call":
            turn.call(get(payload, "call_id"), "local_shell", get(payload, "action"))


def _text(payload: Any) -> str:
    return "".join(text(part.get("text")) for part in objects(get(payload, "content")))


def _output(value: Any) -> str:
    inner = get(value, "content")
    return shown(inner if inner is not None else value)


def _use(usage: Any, turn: Turn) -> None:
    cached = count(get(usage, "cached_input_tokens"))
    turn.use(count(get(usage, "input_tokens")), count(get(usage, "output_tokens")), cached)
