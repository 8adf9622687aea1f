"""Agents' own transcripts as ATIF: pure functions of bytes that an agent wrote, and so may be anything.

What can be had is had, and the coverage says whether that is all. Nothing here raises for what a transcript holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.records import Coverage
from harness.solvers.agent import TranscriptKind
from harness.suites.foreign.atif import Agent, Trajectory
from harness.trajectories import aider, claude, codex, gemini, mini, opencode, qwen
from harness.trajectories.draft import Draft

_READERS: dict[TranscriptKind, Callable[[bytes, Draft], None]] = {
    TranscriptKind.CLAUDE: claude.read,
    TranscriptKind.CODEX: codex.read,
    TranscriptKind.GEMINI: gemini.read,
    TranscriptKind.OPENCODE: opencode.read,
    TranscriptKind.QWEN: qwen.read,
    TranscriptKind.MINI: mini.read,
    TranscriptKind.AIDER: aider.read,
}


@dataclass(frozen=True)
class Converted:
    """A transcript as a trajectory; None where no step could be read. ``reason`` says what is missing."""

    trajectory: Trajectory | None
    coverage: Coverage
    reason: str


def convert(kind: TranscriptKind, data: bytes, agent: Agent, *, prompt: str | None = None) -> Converted:
    """Read a transcript.

    Args:
        kind: its form.
        data: its bytes.
        agent: who acted, as the run knows it.
        prompt: what the agent was asked; put first where the transcript does not say.
    """
    draft = Draft()
    _READERS[kind](data, draft)
    if prompt is not None and draft.turns and not draft.asked:
        draft.say_first(prompt)
    trajectory = draft.finish(agent)
    if trajectory is None:
        return Converted(None, Coverage.NONE, draft.problem or "holds no step")
    if draft.problem:
        return Converted(trajectory, Coverage.PARTIAL, draft.problem)
    return Converted(trajectory, Coverage.FULL, "every line was read")
