"""What a manifest says of an agent that asks a model: where it finds it, how effort is set, what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.gateway.records import Api
from harness.suites.parse import FileModel
from harness.suites.paths import RelativePath

EnvName = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")]
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
MODEL_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$"
EFFORT_PATTERN = r"^[a-z][a-z0-9-]{0,19}$"
ModelName = Annotated[str, Field(pattern=MODEL_PATTERN)]
Effort = Annotated[str, Field(pattern=EFFORT_PATTERN)]
ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]

STDOUT = "stdout"
"""The place of a transcript that the agent prints."""


class Stdin(StrEnum):
    """What an agent's standard input holds."""

    PROMPT = "prompt"
    NONE = "none"


class TranscriptKind(StrEnum):
    """The forms in which agents write down what they did."""

    CLAUDE = "claude"
    """JSON lines of ``--output-format stream-json``."""
    CODEX = "codex"
    """JSON lines of a rollout file."""
    GEMINI = "gemini"
    """A chat's session file, JSON or JSON lines; Qwen Code's are of its line."""
    OPENCODE = "opencode"
    """JSON lines of ``run --format json``."""
    QWEN = "qwen"
    """The JSON of ``--output-format json``, or its lines."""
    MINI = "mini"
    """The JSON of a trajectory."""
    AIDER = "aider"
    """Markdown of a chat history."""


class TranscriptSpec(FileModel):
    """Where a transcript is: ``stdout``, or a pattern of paths below HOME, of which the newest file is read."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9._*][A-Za-z0-9._*/-]{0,199}$")]
    kind: TranscriptKind


class AgentFields(FileModel):
    """The part of a manifest that only drivers ``cli`` and ``worker`` use.

    In ``argv``, ``effort_argv``, ``env`` and the contents of files these are replaced: ``{prompt}``,
    ``{prompt_file}``, ``{model}``, ``{effort}``, ``{base_url}``, ``{home}``, ``{workspace}``, ``{bundle}``.
    """

    recipe: AgentName | None = None
    """The bundle by its folder below ``images/agents``, mounted where a manifest's own bundle is."""
    api: Api | None = None
    """The wire format that it speaks."""
    provider: ProviderName | None = None
    """Who is asked unless the user names another."""
    key_env: tuple[EnvName, ...] = ()
    """Variables that get the attempt's token, which the agent takes for its key."""
    default_model: ModelName | None = None
    side_models: tuple[ModelName, ...] = ()
    """Models that it asks for by itself, beside the user's."""
    efforts: tuple[Effort, ...] = ()
    """What it takes as an effort; none if it has no such setting."""
    effort_argv: tuple[str, ...] = ()
    """Added to ``argv`` where an effort is asked for."""
    effort_files: Mapping[RelativePath, str] = Field(default_factory=dict)
    """Files below HOME where an effort is asked for; one of the same path takes the place of that in ``files``."""
    stdin: Stdin = Stdin.PROMPT
    files: Mapping[RelativePath, str] = Field(default_factory=dict)
    """By path below HOME; they are there before it starts."""
    transcript: TranscriptSpec | None = None
    version_argv: tuple[str, ...] = ()
    """Prints ``harness_version``, among other words."""
