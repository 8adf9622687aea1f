"""A solver's manifest: what a user writes to add one, and what the built-in ones are made of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from harness.digest import digest
from harness.errors import UserError
from harness.records import SolverRef, to_value
from harness.solvers.agent import AgentFields, EnvName
from harness.suites.parse import FileModel, SchemaOne, parse, read_toml
from harness.suites.tree import read_tree

BUNDLE = "/opt/solver"
"""Where a manifest's bundle folder is mounted, read-only."""


class DriverKind(StrEnum):
    """How a solver is driven."""

    REFERENCE = "reference"
    NOOP = "noop"
    WRONG = "wrong"
    PARTIAL = "partial"
    BREAKER = "breaker"
    COMMAND = "command"
    SERVICE = "service"
    CLI = "cli"
    """An agent's program that asks a model through the gateway."""
    WORKER = "worker"
    """One prompt to a model, one reply."""

    @property
    def scripted(self) -> bool:
        """Whether it comes with the task: its energy and time say nothing about an agent."""
        return not (self.asks_model or self in {DriverKind.COMMAND, DriverKind.SERVICE})

    @property
    def asks_model(self) -> bool:
        """Whether it needs a model, and so the gateway."""
        return self in {DriverKind.CLI, DriverKind.WORKER}


class ReplyFrom(StrEnum):
    """Whether what a solver prints is its reply, in which an answer is looked for."""

    STDOUT = "stdout"
    NONE = "none"


class Manifest(AgentFields):
    """A solver.

    ``argv`` may hold ``{prompt_file}``; the prompt is on standard input as well. For a service it starts the worker,
    which listens on the unix socket named by ``CONTROL_SOCKET``. ``candidate`` picks among a task's wrong candidates.
    """

    schema_version: Annotated[SchemaOne, Field(alias="schema")] = 1
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,47}$")]
    driver: DriverKind
    argv: tuple[str, ...] = ()
    env: Mapping[EnvName, str] = Field(default_factory=dict)
    bundle: str | None = None
    candidate: str | None = None
    reply: ReplyFrom | None = None
    """By default standard output, but for a service, which prints its protocol, and an agent, which prints a log."""
    harness: str = "unknown"
    harness_version: str = "unknown"
    model: str = "unknown"
    effort: str = "unknown"

    @property
    def replies(self) -> bool:
        """Whether standard output is a reply."""
        silent = self.driver in {DriverKind.SERVICE, DriverKind.CLI}
        return (self.reply or (ReplyFrom.NONE if silent else ReplyFrom.STDOUT)) is ReplyFrom.STDOUT

    def identity(self) -> dict[str, Any]:
        """What its digest is over: without the agent's fields that say nothing, so that older digests stay."""
        value: dict[str, Any] = to_value(self)
        unset = {
            name
            for name, field in AgentFields.model_fields.items()
            if getattr(self, name) == field.get_default(call_default_factory=True)
        }
        return {name: item for name, item in value.items() if name not in unset}


_MANIFEST: TypeAdapter[Manifest] = TypeAdapter(Manifest)


class Solver(FileModel):
    """A manifest with its bundle found and hashed; that of a recipe is found when it has been built."""

    manifest: Manifest
    bundle: Path | None = None
    bundle_digest: str | None = None

    @property
    def name(self) -> str:
        """The solver's name, unique in a plan."""
        return self.manifest.name

    def ref(self) -> SolverRef:
        """The solver's identity for the plan: the digest covers the manifest and the bundle's content."""
        manifest = self.manifest
        if manifest.recipe is not None and self.bundle_digest is None:
            raise ValueError(f"the bundle of {manifest.name} is not there yet")
        value = manifest.identity()
        value["bundle"] = self.bundle_digest
        return SolverRef(
            name=manifest.name,
            kind=manifest.driver.value,
            model=manifest.model,
            harness=manifest.harness,
            harness_version=manifest.harness_version,
            effort_requested=manifest.effort,
            manifest=digest(value),
        )


def load_manifest(path: Path) -> Solver:
    """Read a solver from its manifest file; its bundle is a folder beside it.

    Raises:
        UserError: the file or its bundle can't be used.
    """
    manifest = parse(_MANIFEST, read_toml(path), str(path))
    return complete(manifest, path)


def complete(manifest: Manifest, where: Path) -> Solver:
    """Check a manifest and hash its bundle.

    Raises:
        UserError: a field is missing or the bundle is not a folder.
    """
    needs_argv = manifest.driver in {DriverKind.COMMAND, DriverKind.SERVICE, DriverKind.CLI}
    if needs_argv and not manifest.argv:
        raise UserError(
            f"{where}: argv", f"a {manifest.driver.value} solver needs a program", "name it, with its arguments"
        )
    if manifest.driver is DriverKind.CLI and manifest.api is None:
        raise UserError(f"{where}: api", "a cli solver asks a model", "say in which wire format")
    if manifest.bundle is not None and manifest.recipe is not None:
        raise UserError(f"{where}: recipe", "stands beside a bundle", "give one of the two")
    if manifest.bundle is None:
        return Solver(manifest=manifest)
    bundle = (where.parent / manifest.bundle).resolve()
    return Solver(manifest=manifest, bundle=bundle, bundle_digest=read_tree(bundle).digest)
