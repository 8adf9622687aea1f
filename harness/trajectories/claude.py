"""Claude Code: JSON lines of its session file, or of ``--output-format stream-json``, which have the same messages."""

from __future__ import annotations

from typing import Any

from harness.trajectories.draft import Draft
from harness.trajectories.values import count, get, lines, objects, shown, text, total, when


def read(data: bytes, draft: Draft) -> None:
    """Add what the lines hold; those of other kinds (settings, requests, costs) say nothing new."""
    for line in lines(data):
        if line is None:
            draft.lose()
        elif text(line.get("type")) in {"user", "assistant"} and not line.get("isSidechain"):
            draft.session = draft.session or text(line.get("sessionId") or line.get("session_id")) or None
            message, at = line.get("message"), when(line.get("timestamp"))
            if line["type"] == "assistant":
                _assistant(message, at, draft)
            else:
                user(message, at, draft)


def _assistant(message: Any, at: str | None, draft: Draft) -> None:
    turn = draft.agent(text(get(message, "id")) or None, at)
    turn.model = text(get(message, "model")) or turn.model
    add_parts(get(message, "content"), turn)
    usage = get(message, "usage")
    cached = count(get(usage, "cache_read_input_tokens"))
    prompt = total(get(usage, "input_tokens"), cached, get(usage, "cache_creation_input_tokens"))
    turn.use(prompt, count(get(usage, "output_tokens")), cached)


def add_parts(content: Any, turn: Any) -> None:
    """The parts of an answer in Anthropic's form."""
    if isinstance(content, str):
        turn.texts.append(text(content))
    for part in objects(content):
        match part.get("type"):
            case "text":
                turn.texts.append(text(part.get("text")))
            case "thinking":
                turn.thoughts.append(text(part.get("thinking")))
            case "tool_use":
                turn.call(part.get("id"), part.get("name"), part.get("input"))


def user(message: Any, at: str | None, draft: Draft) -> None:
    """What came back from tools, and what else was said, in Anthropic's form."""
    content = get(message, "content")
    if isinstance(content, str):
        draft.say("user", text(content), at)
    for part in objects(content):
        if part.get("type") == "tool_result":
            draft.observe(part.get("tool_use_id"), shown(part.get("content")))
        elif part.get("type") == "text":
            draft.say("user", text(part.get("text")), at)
