"""A task of ours inside a Harbor folder, and back: what Harbor has a place for lies there, the rest by the solution.

::

    instruction.md               the prompt
    environment/workspace/       before/
    tests/hidden/                hidden/
    solution/trialbox/           everything else of the task's folder, as it is
    task.toml                    [metadata.trialbox] says which task it is; limits that Harbor knows have its keys
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter

from harness.errors import UserError
from harness.records import Limits
from harness.suites.foreign.draft import Note, TaskFolder, under
from harness.suites.formats.foreign import Dialect
from harness.suites.parse import FileModel, SchemaOne, parse, read_bytes, read_toml
from harness.suites.paths import Name, RelativePath
from harness.suites.tree import REGULAR, Entry, Tree, read_tree

if TYPE_CHECKING:
    from harness.suites.foreign.harbor import HarborTask

KEY = "trialbox"
WORKSPACE, HIDDEN, REST = "environment/workspace", "tests/hidden", "solution/trialbox"


class OwnTask(FileModel):
    """``[metadata.trialbox]``."""

    schema_version: Annotated[SchemaOne, Field(alias="schema")]
    suite: Name
    suite_version: str
    task: Name
    prompt: RelativePath | None = None
    """Where the prompt lies in the task's folder; None where ``task.toml`` holds it."""
    before: bool = True
    """Whether the task's folder has ``before/``; otherwise its tree comes from elsewhere."""


_OWN: TypeAdapter[OwnTask] = TypeAdapter(OwnTask)
_LIMITS: TypeAdapter[Limits] = TypeAdapter(Limits)


def is_own(metadata: Mapping[str, Any]) -> bool:
    """Whether a Harbor task is one of ours."""
    return KEY in metadata


def restore_own(folder: Path, spec: HarborTask) -> TaskFolder:
    """The task's folder as it was; what was changed in Harbor's own places since comes along.

    Raises:
        UserError: a part is missing, or a limit was changed on one side alone.
    """
    where = folder / "task.toml"
    own = parse(_OWN, spec.metadata[KEY], f"{where}: metadata.{KEY}")
    rest = read_tree(folder / REST)
    _same_limits(folder, spec)
    parts = list(rest.values())
    if own.prompt is not None:
        parts.append(Entry(own.prompt, REGULAR, read_bytes(folder / "instruction.md")))
    for place, name in ((WORKSPACE, "before"), (HIDDEN, "hidden")):
        if (folder / place).is_dir() and (name != "before" or own.before):
            parts += under(name, read_tree(folder / place))
    try:
        files = Tree(parts)
    except ValueError as error:
        raise UserError(str(folder), str(error), "export the task again") from error
    origin = f"{own.suite}@{own.suite_version}/{own.task}"
    return TaskFolder(own.task, origin, Dialect.HARBOR, files, (Note("own", f"is our own {origin}, restored"),))


def harbor_limits(limits: Limits) -> dict[str, dict[str, int]]:
    """The limits that Harbor has keys for, under those."""
    return {
        "agent": {"timeout_sec": limits.wall_s},
        "verifier": {"timeout_sec": limits.grade_wall_s},
        "environment": {"cpus": limits.cpus, "memory_mb": limits.memory_mb, "storage_mb": limits.workspace_mb},
    }


def _same_limits(folder: Path, spec: HarborTask) -> None:
    path = folder / REST / "task.toml"
    limits = parse(_LIMITS, read_toml(path).get("limits", {}), f"{path}: limits")
    for table, keys in harbor_limits(limits).items():
        for key, expected in keys.items():
            found = getattr(getattr(spec, table), key)
            if found != expected:
                raise UserError(
                    f"{folder / 'task.toml'}: {table}.{key}", f"is {found}, the task's own limit is {expected}",
                    f"change [limits] in {REST}/task.toml too",
                )  # fmt: skip
