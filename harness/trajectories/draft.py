"""A trajectory in the making: readers add what they find in the order in which they find it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from harness.suites.foreign.atif import (
    VERSION,
    Agent,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    ToolCall,
    Trajectory,
)
from harness.trajectories.values import arguments, text


@dataclass
class Turn:
    """One step. An agent's may be added to as long as more of it comes."""

    source: Literal["system", "user", "agent"]
    timestamp: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    results: list[tuple[str | None, str]] = field(default_factory=list)
    model: str | None = None
    effort: str | None = None
    metrics: Metrics | None = None

    def call(self, call_id: Any, name: Any, given: Any) -> None:
        """A tool that it called."""
        self.calls.append((text(call_id) or f"call-{len(self.calls) + 1}", text(name) or "unknown", arguments(given)))

    def use(
        self, prompt: int | None, completion: int | None, cached: int | None = None, cost: float | None = None
    ) -> None:
        """Its tokens, as the agent counted them."""
        found = Metrics(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached, cost_usd=cost)
        self.metrics = found if found != Metrics() else self.metrics

    def step(self, number: int) -> Step:
        """As ATIF has it."""
        results = tuple(ObservationResult(source_call_id=one, content=said) for one, said in self.results)
        observation = Observation(results=results) if results else None
        message = "\n\n".join(filter(None, self.texts))
        if self.source != "agent":
            return Step(
                step_id=number,
                source=self.source,
                message=message,
                timestamp=self.timestamp,
                observation=observation,
            )
        calls = tuple(
            ToolCall(tool_call_id=call_id, function_name=name, arguments=given) for call_id, name, given in self.calls
        )
        return Step(
            step_id=number,
            source="agent",
            message=message,
            timestamp=self.timestamp,
            model_name=self.model,
            reasoning_effort=self.effort,
            reasoning_content="\n\n".join(filter(None, self.thoughts)) or None,
            tool_calls=calls or None,
            observation=observation,
            metrics=self.metrics,
        )


class Draft:
    """The steps so far, and what could not be read."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.session: str | None = None
        self._open: dict[str, Turn] = {}
        self._lost = 0
        self._why = ""

    @property
    def asked(self) -> bool:
        """Whether a user has said anything."""
        return any(turn.source == "user" for turn in self.turns)

    @property
    def problem(self) -> str:
        """What is missing, in one line; empty if nothing is known to be."""
        lost = f"{self._lost} pieces could not be read" if self._lost else ""
        return "; ".join(filter(None, (lost, self._why)))

    def lose(self) -> None:
        """A piece could not be read."""
        self._lost += 1

    def lack(self, why: str) -> None:
        """Something is known to be missing."""
        self._why = why

    def say(self, source: Literal["system", "user"], message: str, timestamp: str | None = None) -> None:
        """What was said to the agent."""
        if message.strip():
            self.turns.append(Turn(source, timestamp, [message]))

    def say_first(self, prompt: str) -> None:
        """What the agent was asked, ahead of all."""
        self.turns.insert(0, Turn("user", None, [text(prompt)]))

    def agent(self, key: str | None = None, timestamp: str | None = None) -> Turn:
        """The agent's step that goes by *key*, or a new one."""
        turn = self._open.get(key) if key is not None else None
        if turn is None:
            turn = Turn("agent", timestamp)
            self.turns.append(turn)
            if key is not None:
                self._open[key] = turn
        return turn

    def observe(self, call_id: Any, content: str) -> None:
        """What came back: of the call of that name if there is one, else in the last step."""
        name = text(call_id)
        for turn in reversed(self.turns):
            if turn.source == "agent" and any(one == name for one, _, _ in turn.calls):
                turn.results.append((name, content))
                return
        last = next((turn for turn in reversed(self.turns) if turn.source == "agent"), None)
        if last is None:
            self.lose()
        else:
            last.results.append((None, content))

    def finish(self, agent: Agent) -> Trajectory | None:
        """The whole; None if there is no step of the agent's."""
        turns = [turn for turn in self.turns if turn.source != "agent" or _says(turn)]
        if not any(turn.source == "agent" for turn in turns):
            return None
        steps = tuple(turn.step(number) for number, turn in enumerate(turns, 1))
        return Trajectory(
            schema_version=VERSION,
            session_id=self.session,
            agent=agent,
            steps=steps,
            final_metrics=_sums(steps),
        )


def _says(turn: Turn) -> bool:
    return bool(any(turn.texts) or any(turn.thoughts) or turn.calls or turn.results or turn.metrics)


def _sums(steps: tuple[Step, ...]) -> FinalMetrics:
    def of(name: str) -> Any:
        values = [getattr(step.metrics, name) for step in steps if step.metrics is not None]
        known = [one for one in values if one is not None]
        return sum(known) if known else None

    return FinalMetrics(
        total_prompt_tokens=of("prompt_tokens"),
        total_completion_tokens=of("completion_tokens"),
        total_cached_tokens=of("cached_tokens"),
        total_cost_usd=of("cost_usd"),
        total_steps=len(steps),
    )
