"""Qwen Code: JSON lines of its chat file (Gemini's parts), or ``--output-format json`` (Anthropic's messages)."""

from __future__ import annotations

import json
from typing import Any

from harness.trajectories import claude
from harness.trajectories.draft import Draft
from harness.trajectories.values import count, get, lines, loads, objects, shown, text, when


def read(data: bytes, draft: Draft) -> None:
    """Add what either holds."""
    whole = loads(data)
    if isinstance(whole, list):
        claude.read(b"\n".join(_line(one) for one in whole), draft)
        return
    for line in lines(data):
        if line is None:
            draft.lose()
            continue
        draft.session = draft.session or text(line.get("sessionId")) or None
        parts, at = objects(get(line, "message", "parts")), when(line.get("timestamp"))
        match line.get("type"):
            case "assistant":
                _assistant(line, parts, at, draft)
            case "user":
                draft.say("user", "".join(text(part.get("text")) for part in parts), at)
            case "tool_result":
                for part in parts:
                    answer = part.get("functionResponse")
                    if answer is not None:
                        response = get(answer, "response")
                        draft.observe(get(answer, "id"), shown(get(response, "output") or response))


def _assistant(line: dict[str, Any], parts: list[dict[str, Any]], at: str | None, draft: Draft) -> None:
    turn = draft.agent(None, at)
    turn.model = text(line.get("model")) or None
    for part in parts:
        if "functionCall" in part:
            call = part["functionCall"]
            turn.call(get(call, "id"), get(call, "name"), get(call, "args"))
        elif part.get("thought"):
            turn.thoughts.append(text(part.get("text")))
        else:
            turn.texts.append(text(part.get("text")))
    usage = line.get("usageMetadata")
    cached = count(get(usage, "cachedContentTokenCount"))
    turn.use(count(get(usage, "promptTokenCount")), count(get(usage, "candidatesTokenCount")), cached)


def _line(value: Any) -> bytes:
    return json.dumps(value).encode()
