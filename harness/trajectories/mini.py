"""mini-swe-agent: one JSON file of messages, those of the model with the provider's whole answer beside them."""

from __future__ import annotations

from typing import Any

from harness.trajectories.draft import Draft
from harness.trajectories.values import cost, count, get, loads, objects, shown, text, when


def read(data: bytes, draft: Draft) -> None:
    """Add what the file holds."""
    whole = loads(data)
    if not isinstance(whole, dict):
        draft.lack("is not one JSON object")
        return
    for message in objects(whole.get("messages")):
        said, at = shown(message.get("content")), when(get(message, "extra", "timestamp"))
        match message.get("role"):
            case "system":
                draft.say("system", said, at)
            case "user" if draft.asked:
                draft.observe(None, said)
            case "user":
                draft.say("user", said, at)
            case "assistant":
                _assistant(message, said, at, draft)
            case "tool":
                draft.observe(message.get("tool_call_id"), said)
            case "exit":
                status = text(get(message, "extra", "exit_status"))
                if status not in {"", "Submitted"}:
                    draft.lack(f"the agent ended with {status}")


def _assistant(message: dict[str, Any], said: str, at: str | None, draft: Draft) -> None:
    turn = draft.agent(None, at)
    turn.texts.append(said)
    turn.thoughts.append(text(message.get("reasoning_content")))
    for call in objects(message.get("tool_calls")):
        turn.call(call.get("id"), get(call, "function", "name"), get(call, "function", "arguments"))
    response = get(message, "extra", "response")
    usage = get(response, "usage")
    turn.model = text(get(response, "model")) or None
    turn.use(
        count(get(usage, "prompt_tokens")),
        count(get(usage, "completion_tokens")),
        count(get(usage, "prompt_tokens_details", "cached_tokens")),
        cost(get(message, "extra", "cost")),
    )
