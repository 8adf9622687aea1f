"""ATIF, the Agent Trajectory Interchange Format, version 1.8: its objects as closed models, and what they must keep."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

VERSION: Literal["ATIF-v1.8"] = "ATIF-v1.8"
Version = Literal[
    "ATIF-v1.0", "ATIF-v1.1", "ATIF-v1.2", "ATIF-v1.3", "ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "ATIF-v1.8"
]
Whole = Annotated[int, Field(ge=0)]
Cost = Annotated[float, Field(ge=0)]
Extra = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(_Part):
    """Where a picture or a sound lies."""

    media_type: str
    path: str
    duration_sec: float | None = None


class ContentPart(_Part):
    """A piece of a message: text, or a picture or sound by its place."""

    type: Literal["text", "image", "audio"]
    text: str | None = None
    source: Source | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.type == "text") != (self.text is not None) or (self.type != "text") != (self.source is not None):
            raise ValueError("a text part has text, any other has a source")
        return self


Content = str | tuple[ContentPart, ...]


class ToolCall(_Part):
    """One call that the agent made."""

    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: Extra | None = None


class SubagentRef(_Part):
    """Another trajectory, inside this file or beside it."""

    trajectory_id: str | None = None
    trajectory_path: str | None = None
    session_id: str | None = None
    extra: Extra | None = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if self.trajectory_id is None and self.trajectory_path is None:
            raise ValueError("needs trajectory_id or trajectory_path")
        return self


class ObservationResult(_Part):
    """What came back, of a tool call if one is named."""

    source_call_id: str | None = None
    content: Content | None = None
    subagent_trajectory_ref: tuple[SubagentRef, ...] | None = None
    extra: Extra | None = None


class Observation(_Part):
    """All that came back in one step."""

    results: tuple[ObservationResult, ...]


class Metrics(_Part):
    """Tokens and cost of one step. Prompt tokens include the cached ones."""

    prompt_tokens: Whole | None = None
    completion_tokens: Whole | None = None
    cached_tokens: Whole | None = None
    cost_usd: Cost | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    extra: Extra | None = None


class Agent(_Part):
    """Who acted."""

    name: str
    version: str
    model_name: str | None = None
    tool_definitions: tuple[dict[str, Any], ...] | None = None
    extra: Extra | None = None


class Step(_Part):
    """One turn. What only an agent's step may carry is refused elsewhere."""

    step_id: Annotated[int, Field(ge=1)]
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    message: Content
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: Whole | None = None
    extra: Extra | None = None

    @model_validator(mode="after")
    def _keeps_the_rules(self) -> Self:
        agent_only = (self.model_name, self.reasoning_effort, self.reasoning_content, self.tool_calls, self.metrics)
        if self.source != "agent" and any(one is not None for one in agent_only):
            raise ValueError("model, reasoning, tool calls and metrics belong to an agent's step")
        if self.llm_call_count == 0 and (self.metrics is not None or self.reasoning_content is not None):
            raise ValueError("a step without a model call has no metrics and no reasoning")
        if self.timestamp is not None:
            datetime.datetime.fromisoformat(self.timestamp)
        calls = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            if result.source_call_id is not None and result.source_call_id not in calls:
                raise ValueError(f"result of {result.source_call_id!r}, which is no tool call of the step")
        return self


class FinalMetrics(_Part):
    """Totals of a trajectory."""

    total_prompt_tokens: Whole | None = None
    total_completion_tokens: Whole | None = None
    total_cached_tokens: Whole | None = None
    total_cost_usd: Cost | None = None
    total_steps: Whole | None = None
    extra: Extra | None = None


class Trajectory(_Part):
    """A whole file."""

    schema_version: Version
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    extra: Extra | None = None
    subagent_trajectories: tuple[Trajectory, ...] | None = None

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if [step.step_id for step in self.steps] != list(range(1, len(self.steps) + 1)):
            raise ValueError("step_id should count 1, 2, 3 and so on")
        inner = [one.trajectory_id for one in self.subagent_trajectories or ()]
        if None in inner or len(set(inner)) != len(inner):
            raise ValueError("each subagent trajectory needs a trajectory_id of its own")
        return self
