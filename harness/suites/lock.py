"""``suite.lock.json``: what a suite's version stood for when it was locked.

A changed hash under an unchanged version is an error, a task id is never used twice, and an added task raises the minor
version.
"""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.digest import Digest
from harness.errors import UserError
from harness.files import atomic_write
from harness.suites.formats.common import Line
from harness.suites.hashing import GRADER_VERSION, ScoreBasis, image_locks, suite_ref, task_ref
from harness.suites.models import Version
from harness.suites.parse import FileModel, SchemaOne, parse_json, read_bytes
from harness.suites.paths import Name
from harness.suites.task import Suite

LOCK_FILE = "suite.lock.json"


class LockedTask(FileModel):
    """The hashes of one task."""

    score_hash: Digest
    authoring_hash: Digest


class SuiteLock(FileModel):
    """The recorded identity of a suite, and what it was reckoned from."""

    schema_version: Annotated[SchemaOne, Field(alias="schema")] = 1
    suite: Name
    version: Version
    hash: Digest
    platform: Line
    grader: int
    images: dict[Name, Digest]
    """The lock digests of the images that the tasks name."""
    tasks: dict[Name, LockedTask]
    retired: tuple[Name, ...] = ()
    """Ids that earlier versions used and this one does not."""
    history: dict[Version, Digest]
    """Every version that was ever locked, this one included."""


class Standing(StrEnum):
    """How a suite as it is lies to what its version was locked as."""

    LOCKED = "locked"
    """It has the hash that is in the lock under its version."""
    CHANGED = "changed"
    """The lock has another hash under its version."""
    UNLOCKED = "unlocked"
    """Nobody locked its version."""


def lock_suite(suite: Suite, basis: ScoreBasis) -> SuiteLock:
    """Record the suite's identity in its folder and give it back.

    Raises:
        UserError: a task is broken; a hash changed under the same version; the version went back; a retired id came
            back; a task was added without raising the minor version.
        InfraError: the file can't be written.
    """
    lock = _current(suite, basis, read_lock(suite))
    text = json.dumps(lock.model_dump(mode="json", by_alias=True), indent=2, sort_keys=True)
    atomic_write(suite.folder / LOCK_FILE, text.encode() + b"\n")
    return lock


def check_lock(suite: Suite, basis: ScoreBasis) -> SuiteLock:
    """Compare the suite with its lock, and give the lock back.

    Raises:
        UserError: there is no lock, or it does not say what the suite is; the message names the task.
    """
    where, named = str(suite.folder / LOCK_FILE), shlex.quote(str(suite.folder.resolve()))
    remedy = f"run `trialbox suite lock {named}` and commit it"
    lock = read_lock(suite)
    if lock is None:
        raise UserError(where, "is missing", remedy)
    if lock.version != suite.version:
        raise UserError(where, f"locks version {lock.version}, suite.toml says {suite.version}", remedy)
    current = _current(suite, basis, lock)
    for task_id, task in current.tasks.items():
        if task.authoring_hash != lock.tasks[task_id].authoring_hash:
            raise UserError(where, f"task {task_id!r} has another authoring hash", remedy)
    if current != lock:
        raise UserError(where, "does not say what the suite is", remedy)
    return lock


def standing(suite: Suite, basis: ScoreBasis) -> Standing:
    """How the suite's score hashes lie to the lock in its folder; authoring hashes move no score and don't count.

    The comparison is for the lock's own platform: one of another platform says nothing about the files.

    Raises:
        UserError: the lock can't be read or is malformed; a task could not be loaded, or its image has no lock.
    """
    lock = read_lock(suite)
    if lock is None or suite.version not in lock.history:
        return Standing.UNLOCKED
    now = suite_ref(suite, ScoreBasis(basis.image_locks, lock.platform))
    return Standing.LOCKED if lock.history[suite.version] == now.hash else Standing.CHANGED


def read_lock(suite: Suite) -> SuiteLock | None:
    """The lock in the suite's folder, or None.

    Raises:
        UserError: it can't be read or is malformed.
    """
    return lock_in(suite.folder)


def lock_in(folder: Path) -> SuiteLock | None:
    """The same by the suite's folder."""
    path = folder / LOCK_FILE
    return parse_json(SuiteLock, read_bytes(path), str(path)) if path.exists() else None


def _current(suite: Suite, basis: ScoreBasis, previous: SuiteLock | None) -> SuiteLock:
    identity = suite_ref(suite, basis)
    refs = {task.id: task_ref(suite, task, basis) for task in suite.tasks}
    history = dict(previous.history) if previous else {}
    retired = (set(previous.retired) | previous.tasks.keys()) - refs.keys() if previous else set()
    lock = SuiteLock(
        suite=suite.name,
        version=suite.version,
        hash=identity.hash,
        platform=basis.platform,
        grader=GRADER_VERSION,
        images={name: digest for task in suite.tasks for name, digest in image_locks(task, basis).items()},
        tasks={
            task_id: LockedTask(score_hash=ref.score_hash, authoring_hash=ref.authoring_hash)
            for task_id, ref in sorted(refs.items())
        },
        retired=tuple(sorted(retired)),
        history={**history, suite.version: identity.hash},
    )
    if previous:
        _check_succession(str(suite.folder / "suite.toml"), previous, lock)
    return lock


def _check_succession(where: str, old: SuiteLock, new: SuiteLock) -> None:
    before, after = _numbers(old.version), _numbers(new.version)
    if after < before:
        raise UserError(
            f"{where}: version", f"{new.version} is older than the locked {old.version}", "raise the version"
        )
    reused = sorted(new.tasks.keys() & set(old.retired))
    if reused:
        raise UserError(f"{where}: tasks", f"{reused[0]!r} is the id of a retired task", "give the task a new id")
    if after == before and new.hash != old.hash:
        raise UserError(
            f"{where}: version",
            f"{_what_changed(old, new)}, yet the version is still {new.version}",
            "raise the version",
        )
    added = sorted(new.tasks.keys() - old.tasks.keys())
    if added and after[:2] == before[:2]:
        raise UserError(
            f"{where}: version", f"task {added[0]!r} was added", f"raise the minor version of {old.version}"
        )


def _what_changed(old: SuiteLock, new: SuiteLock) -> str:
    for task_id in sorted(old.tasks.keys() | new.tasks.keys()):
        if task_id not in new.tasks:
            return f"task {task_id!r} was removed"
        if task_id not in old.tasks:
            return f"task {task_id!r} was added"
        if old.tasks[task_id].score_hash != new.tasks[task_id].score_hash:
            return f"task {task_id!r} has another score hash{_outer_cause(old, new)}"
    return "the suite's hash changed"


def _outer_cause(old: SuiteLock, new: SuiteLock) -> str:
    """The cause, where it lies outside the tasks' folders."""
    if old.platform != new.platform:
        return f" (platform {old.platform} -> {new.platform})"
    if old.grader != new.grader:
        return f" (grader {old.grader} -> {new.grader})"
    moved = sorted(name for name in new.images if old.images.get(name) not in {None, new.images[name]})
    return f" (the lock of image {moved[0]!r} changed)" if moved else ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
