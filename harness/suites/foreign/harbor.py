"""Harbor's task folders (schema 1.4, its deprecated keys too): ``task.toml``, ``instruction.md``, and scripts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from harness.errors import UserError
from harness.suites.foreign.context import Context
from harness.suites.foreign.draft import Note, TaskFolder
from harness.suites.foreign.folders import FolderTask, make_folder, surroundings
from harness.suites.foreign.own import is_own, restore_own
from harness.suites.formats.foreign import Dialect
from harness.suites.groups import RewardSource
from harness.suites.parse import parse, read_bytes, read_toml
from harness.suites.tree import Tree, read_tree

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)] | Annotated[int, Field(gt=0)]
MAX_MEMORY_MB = 1_048_576
Network = Literal["public", "no-network", "allowlist"]


class _Part(BaseModel):
    """Harbor ignores keys that it does not know; here they are named in the import's report."""

    model_config = ConfigDict(frozen=True, extra="allow")


class TaskPart(_Part):
    """``[task]``."""

    name: str
    version: str | None = None
    description: str | None = None
    authors: list[Any] = []
    keywords: list[str] = []


class AgentPart(_Part):
    """``[agent]``."""

    timeout_sec: Seconds | None = None
    user: str | int | None = None
    network_mode: Network | None = None
    allowed_hosts: list[str] = []


class EnvironmentPart(_Part):
    """``[environment]``."""

    build_timeout_sec: Seconds | None = None
    docker_image: str | None = None
    os: Literal["linux", "windows"] = "linux"
    cpus: Annotated[int, Field(ge=1, le=1024)] | None = None
    memory_mb: Annotated[int, Field(ge=1, le=MAX_MEMORY_MB)] | None = None
    storage_mb: Annotated[int, Field(ge=1)] | None = None
    memory: str | None = None
    """Deprecated: ``2G``."""
    storage: str | None = None
    gpus: int | None = None
    gpu_types: list[str] | None = None
    tpu: dict[str, Any] | None = None
    mcp_servers: list[dict[str, Any]] = []
    env: dict[str, str] = {}
    skills_dir: str | None = None
    healthcheck: dict[str, Any] | None = None
    workdir: str | None = None
    network_mode: Network | None = None
    allow_internet: bool | None = None
    """Deprecated."""
    allowed_hosts: list[str] = []

    @property
    def network(self) -> str:
        """The mode, whichever key says it."""
        old = (
            {True: "public", False: "no-network"}.get(self.allow_internet) if self.allow_internet is not None else None
        )
        return self.network_mode or old or "public"


class VerifierPart(_Part):
    """``[verifier]``."""

    timeout_sec: Seconds = 600
    env: dict[str, str] = {}
    user: str | int | None = None
    network_mode: Network | None = None
    allowed_hosts: list[str] = []
    environment_mode: Literal["shared", "separate"] | None = None
    environment: EnvironmentPart | None = None
    collect: list[dict[str, Any]] = []


class SolutionPart(_Part):
    """``[solution]``."""

    env: dict[str, str] = {}


class HarborTask(_Part):
    """``task.toml``."""

    schema_version: str | None = None
    version: str | None = None
    """Deprecated name of the same."""
    source: str | None = None
    multi_step_reward_strategy: Literal["mean", "final"] | None = None
    artifacts: list[Any] = []
    task: TaskPart | None = None
    metadata: dict[str, Any] = {}
    agent: AgentPart = AgentPart()
    verifier: VerifierPart = VerifierPart()
    environment: EnvironmentPart = EnvironmentPart()
    solution: SolutionPart = SolutionPart()
    steps: list[dict[str, Any]] = []


_TASK: TypeAdapter[HarborTask] = TypeAdapter(HarborTask)


def import_harbor(folder: Path, context: Context) -> TaskFolder:
    """One task folder as one of our tasks; one that we exported comes back as what it was.

    Raises:
        UserError: a file is missing or malformed, or the task can't be carried at all.
    """
    where = folder / "task.toml"
    spec = parse(_TASK, read_toml(where), str(where))
    if is_own(spec.metadata):
        return restore_own(folder, spec)
    if spec.steps or (folder / "steps").is_dir():
        raise UserError(f"{where}: steps", "a task of several steps can't be carried", "expected one instruction.md")
    if spec.environment.os == "windows" or (folder / "tests" / "test.bat").is_file():
        raise UserError(f"{where}: environment.os", "Windows tasks can't be carried", "expected 'linux'")
    solve = folder / "solution" / "solve.sh"
    task = FolderTask(
        dialect=Dialect.HARBOR,
        id=spec.task.name if spec.task else folder.name,
        where=str(where),
        prompt=prompt_of(folder / "instruction.md"),
        tests=_tests(folder / "tests"),
        script="test.sh",
        solution=read_tree(solve.parent) if solve.is_file() else Tree(),
        solve="solve.sh" if solve.is_file() else "",
        source=RewardSource.FILE,
        env={name: value for name, value in spec.verifier.env.items() if "${" not in value and _settable(name, value)},
        limits=_limits(spec, str(where)),
        notes=tuple(_notes(spec, folder)),
    )
    images = [spec.environment.docker_image] if spec.environment.docker_image else []
    around = surroundings(context, str(where), folder / "environment" / "Dockerfile", images, spec.environment.workdir)
    return make_folder(task, around, context)


def _settable(name: str, value: str) -> bool:
    """Whether a shell can export it."""
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and "\0" not in value


def prompt_of(path: Path) -> str:
    """The text of a prompt.

    Raises:
        UserError: it is missing, empty or not UTF-8.
    """
    if not os.path.lexists(path):
        raise UserError(str(path), "is missing", "expected what the solver is to do")
    try:
        text = read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UserError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    if not text.strip():
        raise UserError(str(path), "is empty", "expected what the solver is to do")
    return text


def _tests(folder: Path) -> Tree:
    if not (folder / "test.sh").is_file():
        raise UserError(str(folder / "test.sh"), "is missing", "expected the script that writes the reward")
    return read_tree(folder)


def _limits(spec: HarborTask, where: str) -> dict[str, int]:
    asked = {"grade_wall_s": max(1, min(int(spec.verifier.timeout_sec), 36_000))}
    if spec.agent.timeout_sec is not None:
        asked["wall_s"] = max(1, min(int(spec.agent.timeout_sec), 864_000))
    if spec.environment.cpus is not None:
        asked["cpus"] = spec.environment.cpus
    memory = spec.environment.memory_mb
    if memory is None and spec.environment.memory is not None:
        memory = size_mb(spec.environment.memory, f"{where}: environment.memory")
    return asked | ({"memory_mb": max(128, memory)} if memory is not None else {})


def size_mb(text: str, where: str) -> int:
    """``2G``, ``512M``, ``2048`` (bytes are refused) as MB.

    Raises:
        UserError: it is no size.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([MG])i?[Bb]?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UserError(where, f"{text[:40]!r} is no size", "expected a number and M or G, such as '2G'")
    size = float(match[1]) * (1024 if match[2].upper() == "G" else 1)
    if size > MAX_MEMORY_MB:
        raise UserError(where, f"{text[:40]!r} is more than a container can have", "expected 1024G or less")
    return max(1, int(size))


def _notes(spec: HarborTask, folder: Path) -> Iterator[Note]:
    environment, verifier = spec.environment, spec.verifier
    if environment.network != "no-network" or spec.agent.network_mode in {"public", "allowlist"}:
        yield Note("network", "the task asks for a network in the solver's container; there is none here")
    if (verifier.network_mode or environment.network) != "no-network":
        yield Note("verifier_network", "the task's verifier has a network in Harbor; there is none here")
    if verifier.environment_mode != "separate" and verifier.environment is None:
        yield Note("shared_verifier", "Harbor reaches the verdict in the solver's own container; here a fresh one does")
    if verifier.environment is not None or (folder / "tests" / "Dockerfile").is_file():
        yield Note("verifier_image", "the verifier's own image is not carried: the task's image grades")
    for who, user in (("agent", spec.agent.user), ("verifier", verifier.user)):
        yield Note("root", f"the {who} runs as uid 10001 here, not as {user if user is not None else 'the image says'}")
    yield from _named_notes(spec)
    if any("${" in value for value in verifier.env.values()):
        yield Note("verifier_env", "variables taken from Harbor's own environment are not set")
    for name, value in verifier.env.items():
        if not _settable(name, value):
            yield Note("verifier_env", f"{name[:40]!r} is not set: no shell can export such a name or value")
    if (folder / "environment" / "docker-compose.yaml").is_file():
        yield Note("services", "docker-compose.yaml is not carried: there is one container")
    for place, part in (("", spec), ("agent.", spec.agent), ("verifier.", verifier), ("environment.", environment)):
        for key in sorted(part.model_extra or {}):
            yield Note("unknown_key", f"{place}{key} is no key of Harbor's schema 1.4")


def _named_notes(spec: HarborTask) -> Iterator[Note]:
    """One for each feature that has no counterpart here."""
    environment, verifier = spec.environment, spec.verifier
    features = (
        ("healthcheck", environment.healthcheck, "is not run before the solver starts"),
        ("gpu", environment.gpus or environment.tpu, "no accelerator is given"),
        ("mcp_servers", environment.mcp_servers, "are not started"),
        ("environment_env", environment.env, "variables of the image's container are not set"),
        ("skills", environment.skills_dir, "are not offered to the solver"),
        ("storage", environment.storage_mb or environment.storage, "is not taken over: the workspace has its own size"),
        ("artifacts", spec.artifacts, "are not collected: the workspace alone is"),
        ("collect", verifier.collect, "commands are not run before grading"),
        ("allowed_hosts", environment.allowed_hosts or spec.agent.allowed_hosts, "are not reachable"),
        ("solution_env", spec.solution.env, "is not set when the solution runs"),
    )
    for name, value, meaning in features:
        if value:
            yield Note(name, meaning)
    yield Note("fractional_reward", "a reward counts as passed at 1 and as failed below")
