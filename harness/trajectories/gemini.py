"""Gemini CLI: a session file of its chats, JSON or JSON lines, in which a message comes again when it has grown."""

from __future__ import annotations

from typing import Any

from harness.trajectories.draft import Draft
from harness.trajectories.values import count, get, lines, loads, objects, shown, text, total, when


def read(data: bytes, draft: Draft) -> None:
    """Add what the file holds: the last state of each message, in the order in which they first came."""
    whole = loads(data)
    messages: dict[str, dict[str, Any]] = {}
    pieces = [whole] if isinstance(whole, dict) else list(lines(data))
    for piece in pieces:
        if piece is None:
            draft.lose()
            continue
        draft.session = text(piece.get("sessionId")) or draft.session
        new = [*objects(piece.get("messages")), *objects(get(piece, "$set", "messages"))]
        for message in [piece, *new] if "type" in piece else new:
            messages[text(message.get("id")) or f"message {len(messages)}"] = message
    for message in messages.values():
        _message(message, draft)


def _message(message: dict[str, Any], draft: Draft) -> None:
    at, said = when(message.get("timestamp")), shown(message.get("content"))
    if message.get("type") == "user":
        if not any("functionResponse" in part for part in objects(message.get("content"))):  # said with the call too
            draft.say("user", said, at)
        return
    if message.get("type") != "gemini":
        draft.say("system", said, at)
        return
    turn = draft.agent(None, at)
    turn.texts.append(said)
    turn.model = text(message.get("model")) or None
    for thought in objects(message.get("thoughts")):
        turn.thoughts.append(": ".join(filter(None, (text(thought.get("subject")), text(thought.get("description"))))))
    for call in objects(message.get("toolCalls")):
        turn.call(call.get("id"), call.get("name"), call.get("args"))
        response = [get(one, "functionResponse", "response") for one in objects(call.get("result"))]
        if response:
            draft.observe(call.get("id"), "\n".join(shown(get(one, "output") or one) for one in response))
    tokens = message.get("tokens")
    completion = total(get(tokens, "output"), get(tokens, "thoughts"))
    turn.use(count(get(tokens, "input")), completion, count(get(tokens, "cached")))
