"""A solver's manifest: what a user writes to add one, and what the built-in ones are made of."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from harness.digest import digest
from harness.errors import UserError
from harness.records import SolverRef, to_value
from harness.suites.parse import FileModel, parse, read_toml
from harness.suites.tree import read_tree

BUNDLE = "/opt/solver"
"""Where a manifest's bundle folder is mounted, read-only."""

EnvName = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")]


class DriverKind(StrEnum):
    """How a solver is driven."""

    REFERENCE = "reference"
    NOOP = "noop"
    WRONG = "wrong"
    COMMAND = "command"
    SERVICE = "service"

    @property
    def scripted(self) -> bool:
        """Whether it comes with the task: its energy and time say nothing about an agent."""
        return self in {DriverKind.REFERENCE, DriverKind.NOOP, DriverKind.WRONG}


class Manifest(FileModel):
    """A solver.

    ``argv`` may hold ``{prompt_file}``; the prompt is on standard input as well. For a service it starts the worker,
    which listens on the unix socket named by ``CONTROL_SOCKET``. ``candidate`` picks among a task's wrong candidates.
    """

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,47}$")]
    driver: DriverKind
    argv: tuple[str, ...] = ()
    env: Mapping[EnvName, str] = Field(default_factory=dict)
    bundle: str | None = None
    candidate: str | None = None
    harness: str = "unknown"
    harness_version: str = "unknown"
    model: str = "unknown"
    effort: str = "unknown"


_MANIFEST: TypeAdapter[Manifest] = TypeAdapter(Manifest)


class Solver(FileModel):
    """A manifest with its bundle found and hashed."""

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
        value = to_value(manifest)
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
    needs_argv = manifest.driver in {DriverKind.COMMAND, DriverKind.SERVICE}
    if needs_argv and not manifest.argv:
        raise UserError(
            f"{where}: argv", f"a {manifest.driver.value} solver needs a program", "name it, with its arguments"
        )
    if manifest.bundle is None:
        return Solver(manifest=manifest)
    bundle = (where.parent / manifest.bundle).resolve()
    return Solver(manifest=manifest, bundle=bundle, bundle_digest=read_tree(bundle).digest)
