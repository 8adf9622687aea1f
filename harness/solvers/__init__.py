"""Solvers as data: a manifest says what runs, one of a few drivers runs it, and a new agent needs no code.

The whole protocol is :class:`Driver`: given a sealed container that holds the seeded workspace, run to the end or the
deadline and say how it ended. A driver never decides an outcome and never reads the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from harness.engine.sandbox import Sandbox
from harness.outcomes import Ending
from harness.suites.task import Task


@dataclass(frozen=True)
class AgentAccess:
    """How one attempt reaches its model from inside its container.

    ``base_url`` has no path, ``token`` is worthless anywhere else, ``effort`` is None where none is asked for.
    """

    base_url: str
    token: str = field(repr=False)
    model: str
    effort: str | None = None


@dataclass(frozen=True)
class SolveContext:
    """What a driver gets: the sealed container, the task, and how long and how loud it may be.

    ``env`` is the whole environment besides the image's own; the prompt lies in ``prompt_file`` inside. ``access`` is
    None for solvers that ask no model.
    """

    sandbox: Sandbox
    task: Task
    prompt_file: str
    timeout_s: float
    max_output: int
    env: Mapping[str, str] = field(default_factory=dict)
    access: AgentAccess | None = None


@dataclass(frozen=True)
class Solved:
    """How a solver's run ended and what it printed."""

    argv: tuple[str, ...]
    ending: Ending
    exit_status: int | None
    stdout: bytes
    stderr: bytes
    dropped: int = 0
    transcript: bytes | None = None


class Driver(Protocol):
    """Runs a solver inside a started, sealed container.

    Raises:
        InfraError: the engine failed; nothing is said about the solver.
    """

    def __call__(self, context: SolveContext) -> Solved:
        """Run to the end or the deadline; leave processes behind freely, the container is killed next."""
