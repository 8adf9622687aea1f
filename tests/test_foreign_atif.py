"""ATIF 1.8: what it must keep, and that what leaves here keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from harness.suites.foreign.atif import Trajectory

WHOLE: dict[str, Any] = {
    "schema_version": "ATIF-v1.8",
    "session_id": "s",
    "agent": {"name": "a", "version": "1", "model_name": "m", "tool_definitions": [{"name": "sh"}]},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Do it.", "timestamp": "2026-11-30T10:00:00Z"},
        {
            "step_id": 2,
            "source": "agent",
            "message": [
                {"type": "text", "text": "I will."},
                {"type": "image", "source": {"media_type": "image/png", "path": "x"}},
            ],
            "reasoning_content": "hm",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "sh", "arguments": {"cmd": "ls"}}],
            "observation": {"results": [{"source_call_id": "c1", "content": "a.py"}]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.01},
        },
    ],
    "final_metrics": {"total_steps": 2, "extra": {"energy_active_uj": 1}},
    "subagent_trajectories": [],
}


def edited(**changes: Any) -> dict[str, Any]:
    """The whole file with one step changed: ``first`` or ``second``, or keys of the file."""
    steps = [{**WHOLE["steps"][0], **changes.pop("first", {})}, {**WHOLE["steps"][1], **changes.pop("second", {})}]
    return {**WHOLE, "steps": steps, **changes}


def test_a_whole_trajectory() -> None:
    made = Trajectory.model_validate(WHOLE)
    assert Trajectory.model_validate_json(made.model_dump_json()) == made


@pytest.mark.parametrize(
    "wrong",
    [
        edited(schema_version="ATIF-v2.0"),
        edited(steps=[]),
        edited(surprise=1),
        edited(second={"step_id": 3}),
        edited(second={"source": "robot"}),
        edited(first={"metrics": {"prompt_tokens": 1}}),
        edited(first={"tool_calls": []}),
        edited(first={"timestamp": "yesterday"}),
        edited(second={"observation": {"results": [{"source_call_id": "c9"}]}}),
        edited(second={"llm_call_count": 0}),
        edited(second={"message": [{"type": "text"}]}),
        edited(second={"metrics": {"prompt_tokens": -1}}),
        edited(subagent_trajectories=[{**WHOLE, "trajectory_id": None}]),
        edited(second={"observation": {"results": [{"subagent_trajectory_ref": [{}]}]}}),
    ],
)
def test_what_breaks_a_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Trajectory.model_validate(wrong)
