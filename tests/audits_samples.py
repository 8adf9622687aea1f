"""Trajectories as other harnesses write them, made up for tests: the same five deeds in each form.

1. ``git log --all --oneline``, which lists a commit; 2. ``git show`` of it, which gives a diff; 3. ``curl`` of a code
host, which can't be reached; 4. ``cat`` of a solution, which is there; 5. ``pip download``, whose result is not known.
"""

from __future__ import annotations

import json
from typing import Any

COMMANDS = (
    ("git log --all --oneline", "1a2b3c4 Fix the parser\n9f8e7d6 Initial", 0),
    ("git show 1a2b3c4", "diff --git a/x.py b/x.py\n+fixed", 0),
    ("curl -s https://github.com/a/b/pull/7.diff", "curl: (6) Could not resolve host: github.com", 6),
    ("cat /solution/solve.sh", "#!/bin/sh\nsed -i s/a/b/ x.py", 0),
    ("pip download tool==2.0", None, 0),
)
PROMPT = "Fix the parser."


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in rows).encode()


def claude() -> bytes:
    """A session file of Claude Code, with the lines that it has beside the messages."""
    rows: list[dict[str, Any]] = [
        {"type": "summary", "summary": "x", "leafUuid": "u"},
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": PROMPT}, "uuid": "u0"},
    ]
    for number, (command, said, code) in enumerate(COMMANDS):
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": command, "description": "d"},
        }
        rows.append(
            {
                "type": "assistant",
                "isSidechain": number == 3,
                "message": {"id": f"m{number}", "model": "m", "content": [{"type": "text", "text": "now"}, use]},
            }
        )
        if said is not None:
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": said, "is_error": code != 0}
            rows.append({"type": "user", "message": {"role": "user", "content": [result]}})
    return lines(rows)


def codex() -> bytes:
    """A rollout of Codex."""
    rows: list[dict[str, Any]] = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}},
        {"type": "turn_context", "payload": {"model": "m", "effort": "high"}},
        _item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROMPT}]}),
    ]
    for number, (command, said, code) in enumerate(COMMANDS):
        name, given = (
            ("shell", {"command": ["bash", "-lc", command]}) if number % 2 else ("exec_command", {"cmd": command})
        )
        call = {"type": "function_call", "name": name, "call_id": f"c{number}", "arguments": json.dumps(given)}
        rows.append(_item(call))
        if said is not None:
            output = json.dumps({"output": said, "metadata": {"exit_code": code}})
            rows.append(_item({"type": "function_call_output", "call_id": f"c{number}", "output": output}))
        rows.append({"type": "event_msg", "payload": {"type": "token_count", "info": {}}})
    return lines(rows)


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-11-30T00:00:00Z", "type": "response_item", "payload": payload}


def codex_exec() -> bytes:
    """What ``codex exec --json`` prints."""
    rows: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    for number, (command, said, code) in enumerate(COMMANDS):
        item = {"id": f"item_{number}", "type": "command_execution", "command": f"bash -lc {json.dumps(command)}"}
        rows.append({"type": "item.started", "item": item})
        if said is not None:
            rows.append({"type": "item.completed", "item": {**item, "aggregated_output": said, "exit_code": code}})
    return lines([*rows, {"type": "turn.completed", "usage": {}}])


def mini() -> bytes:
    """A trajectory of mini-swe-agent, commands in fences."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": PROMPT}]
    for command, said, code in COMMANDS:
        messages.append({"role": "assistant", "content": f"THOUGHT: next\n\n```bash\n{command}\n```\n"})
        if said is not None:
            content = f"<returncode>{code}</returncode>\n<output>\n{said}\n</output>"
            messages.append({"role": "user", "content": content})
    whole = {"info": {"exit_status": "Submitted"}, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}
    return json.dumps(whole, indent=2).encode()


def mini_tools() -> bytes:
    """A trajectory of mini-swe-agent, commands as tool calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": PROMPT}]
    for number, (command, said, code) in enumerate(COMMANDS):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call], "extra": {"cost": 0.1}})
        if said is not None:
            content = json.dumps({"returncode": code, "output": said})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    return json.dumps({"messages": messages, "info": {}}).encode()


def swe_agent() -> bytes:
    """A ``.traj`` of SWE-agent."""
    steps = [
        {"action": command, "observation": said, "thought": "t", "response": "r", "state": {}, "execution_time": 0.1}
        for command, said, _ in COMMANDS
    ]
    history = [{"role": "system", "content": "s", "agent": "main"}]
    return json.dumps(
        {"trajectory": steps, "history": history, "info": {"submission": ""}, "environment": "e"}
    ).encode()


def atif() -> bytes:
    """ATIF 1.8, with the steps in a trajectory within it as well."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": PROMPT}]
    for number, (command, said, _) in enumerate(COMMANDS):
        call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": command}}
        step: dict[str, Any] = {"step_id": number + 2, "source": "agent", "message": "", "tool_calls": [call]}
        if said is not None:
            step["observation"] = {"results": [{"source_call_id": f"c{number}", "content": said}]}
        steps.append(step)
    agent = {"name": "a", "version": "1"}
    inner = {"schema_version": "ATIF-v1.8", "trajectory_id": "in", "agent": agent, "steps": steps[:1]}
    whole = {"schema_version": "ATIF-v1.8", "agent": agent, "steps": steps, "subagent_trajectories": [inner]}
    return json.dumps(whole).encode()


def chat() -> bytes:
    """Chat messages, one a line."""
    return lines(json.loads(mini_tools())["messages"]).replace(b', "extra": {"cost": 0.1}', b"")


SAMPLES = {
    "claude-code": claude,
    "codex": codex,
    "codex exec": codex_exec,
    "mini-swe-agent": mini,
    "mini-swe-agent tools": mini_tools,
    "swe-agent": swe_agent,
    "atif": atif,
    "chat messages": chat,
}
