"""Transcripts as the agents write them, cut down to what tells the forms apart: a tool call, its result, an end."""

from __future__ import annotations

import json
from typing import Any

from harness.solvers.agent import TranscriptKind

AT = "2026-12-01T03:34:06.400Z"


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _anthropic(message_id: str, content: list[Any], **usage: int) -> dict[str, Any]:
    return {
        "type": "assistant",
        "timestamp": AT,
        "sessionId": "s-1",
        "isSidechain": False,
        "message": {"id": message_id, "role": "assistant", "model": "m-1", "content": content, "usage": usage},
    }


_USAGE = {"input_tokens": 1000, "cache_read_input_tokens": 200, "cache_creation_input_tokens": 30, "output_tokens": 100}

CLAUDE = _lines(
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "s-1"},
    {"type": "user", "timestamp": AT, "sessionId": "s-1", "message": {"role": "user", "content": "Fix it."}},
    _anthropic("msg_1", [{"type": "thinking", "thinking": "Hm."}], **_USAGE),
    _anthropic("msg_1", [{"type": "text", "text": "I look."}], **_USAGE),
    _anthropic("msg_1", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}], **_USAGE),
    {
        "type": "user",
        "timestamp": AT,
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]},
    },
    {**_anthropic("msg_9", [{"type": "text", "text": "A helper's word."}]), "isSidechain": True},
    _anthropic("msg_2", [{"type": "text", "text": "Done."}], **_USAGE),
)

_CODEX_USE = {"input_tokens": 1230, "cached_input_tokens": 200, "output_tokens": 100, "reasoning_output_tokens": 20}


def _item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "response_item", "payload": payload}


CODEX = _lines(
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "s-1", "cli_version": "0.171.0"}},
    {"timestamp": AT, "type": "turn_context", "payload": {"model": "m-1", "effort": "high"}},
    _item(type="message", role="user", content=[{"type": "input_text", "text": "Fix it."}]),
    _item(type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}]),
    _item(type="message", role="assistant", content=[{"type": "output_text", "text": "I look."}]),
    _item(type="function_call", name="exec_command", arguments='{"cmd": "ls"}', call_id="t1"),
    {"timestamp": AT, "type": "token_usage_record", "payload": {"usage": _CODEX_USE}},
    _item(type="function_call_output", call_id="t1", output="a.py"),
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": {}}},
    _item(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
    {"timestamp": AT, "type": "token_usage_record", "payload": {"usage": _CODEX_USE}},
)

_TOKENS = {"input": 1230, "output": 80, "thoughts": 20, "cached": 200}
_TALK = {"id": "2", "timestamp": AT, "type": "gemini", "model": "m-1", "tokens": _TOKENS}
_CALL = {
    "id": "t1",
    "name": "run_shell_command",
    "args": {"command": "ls"},
    "result": [{"functionResponse": {"id": "t1", "response": {"output": "a.py"}}}],
}

GEMINI = _lines(
    {"sessionId": "s-1", "kind": "main", "startTime": AT},
    {"id": "1", "timestamp": AT, "type": "user", "content": [{"text": "Fix it."}]},
    {**_TALK, "content": "I look.", "thoughts": [{"subject": "Looking", "description": "Hm."}]},
    {"$set": {"lastUpdated": AT}},
    {**_TALK, "content": "I look.", "thoughts": [{"subject": "Looking", "description": "Hm."}], "toolCalls": [_CALL]},
    {"id": "3", "timestamp": AT, "type": "user", "content": [{"functionResponse": {"id": "t1"}}]},
    {**_TALK, "id": "4", "content": "Done."},
)

_STEP = {"input": 1000, "output": 80, "reasoning": 20, "cache": {"read": 200, "write": 30}}


def _part(kind: str, message: str, **part: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": 1796096113034, "sessionID": "s-1", "part": {"messageID": message, **part}}


OPENCODE = _lines(
    _part("step_start", "m1"),
    _part("reasoning", "m1", text="Hm."),
    _part("text", "m1", text="I look."),
    _part("tool_use", "m1", tool="bash", callID="t1", state={"input": {"command": "ls"}, "output": "a.py"}),
    _part("step_finish", "m1", tokens=_STEP, cost=0.004),
    _part("text", "m2", text="Done."),
    _part("step_finish", "m2", tokens=_STEP, cost=0.004),
)

_META = {"promptTokenCount": 1230, "candidatesTokenCount": 100, "cachedContentTokenCount": 200}


def _qwen(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": AT, "sessionId": "s-1", "message": {"parts": list(parts)}, **more}


QWEN = _lines(
    _qwen("user", {"text": "Fix it."}),
    {"type": "system", "subtype": "ui_telemetry", "sessionId": "s-1"},
    _qwen(
        "assistant",
        {"text": "Hm.", "thought": True},
        {"text": "I look."},
        {"functionCall": {"id": "t1", "name": "run_shell_command", "args": {"command": "ls"}}},
        model="m-1",
        usageMetadata=_META,
    ),
    _qwen("tool_result", {"functionResponse": {"id": "t1", "response": {"output": "a.py"}}}),
    _qwen("assistant", {"text": "Done."}, model="m-1", usageMetadata=_META),
)

_ANSWER = {
    "model": "m-1",
    "usage": {"prompt_tokens": 1230, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 200}},
}

MINI = json.dumps({
    "trajectory_format": "mini-swe-agent-1.1",
    "info": {"exit_status": "Submitted"},
    "messages": [
        {"role": "system", "content": "You can use a shell."},
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "Hm.",
            "tool_calls": [{"id": "t1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}],
            "extra": {"response": _ANSWER, "cost": 0.004, "timestamp": 1796096716.8},
        },
        {"role": "tool", "tool_call_id": "t1", "content": "a.py"},
        {"role": "assistant", "content": "Done.", "extra": {"response": _ANSWER, "cost": 0.004}},
        {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}},
    ],
}).encode()  # fmt: skip

AIDER = b"""
# aider chat started at 2026-12-01 03:44:14

> Aider v0.86.2
> Model: anthropic/m-1 with diff edit format

#### Fix it.

I look.

a.py
```
<<<<<<< SEARCH
x = 1
=======
x = 2
>>>>>>> REPLACE
```

> Tokens: 3.0k sent, 825 received.
> Applied edit to a.py

Done.
"""

SAMPLES = {
    TranscriptKind.CLAUDE: CLAUDE,
    TranscriptKind.CODEX: CODEX,
    TranscriptKind.GEMINI: GEMINI,
    TranscriptKind.OPENCODE: OPENCODE,
    TranscriptKind.QWEN: QWEN,
    TranscriptKind.MINI: MINI,
    TranscriptKind.AIDER: AIDER,
}
