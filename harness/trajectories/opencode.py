"""opencode: JSON lines of ``run --format json``; it does not say what it was asked, nor which model answered."""

from __future__ import annotations

from harness.trajectories.draft import Draft
from harness.trajectories.values import cost, count, get, lines, shown, text, total, when


def read(data: bytes, draft: Draft) -> None:
    """Add what the lines hold; a step ends with its figures."""
    for line in lines(data):
        if line is None:
            draft.lose()
            continue
        draft.session = draft.session or text(line.get("sessionID")) or None
        part, at = line.get("part"), when(line.get("timestamp"))
        turn = draft.agent(text(get(part, "messageID")) or None, at) if isinstance(part, dict) else None
        if turn is None:
            if line.get("type") == "error":
                draft.lack("the agent ended with an error")
            continue
        match line.get("type"):
            case "text":
                turn.texts.append(text(get(part, "text")))
            case "reasoning":
                turn.thoughts.append(text(get(part, "text")))
            case "tool_use":
                state = get(part, "state")
                turn.call(get(part, "callID"), get(part, "tool"), get(state, "input"))
                draft.observe(get(part, "callID"), shown(get(state, "output") or get(state, "error")))
            case "step_finish":
                tokens = get(part, "tokens")
                cached = count(get(tokens, "cache", "read"))
                prompt = total(get(tokens, "input"), cached, get(tokens, "cache", "write"))
                completion = total(get(tokens, "output"), get(tokens, "reasoning"))
                turn.use(prompt, completion, cached, cost(get(part, "cost")))
