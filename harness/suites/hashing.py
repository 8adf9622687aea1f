"""The two hashes of a task and the identity of a suite.

``score_hash`` covers everything that can move a score, ``authoring_hash`` the rest. A title (of a plain joule-bench
task, its name) moves neither, and neither do by-products, file times or the order of files on a disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.digest import combine, digest, sha256_bytes
from harness.errors import UserError
from harness.records import SuiteRef, TaskRef, to_value
from harness.suites.models import Format
from harness.suites.task import Candidate, Suite, Task

GRADER_VERSION = 1
"""Raised whenever the grading code could give another verdict on the same evidence."""

DEFAULT_PLATFORM = "linux/amd64"


@dataclass(frozen=True)
class ScoreBasis:
    """What besides the task's own folder can move a score: image locks by image name, and the platform."""

    image_locks: Mapping[str, str]
    platform: str = DEFAULT_PLATFORM


def score_hash(task: Task, basis: ScoreBasis) -> str:
    """The digest of everything that can move a score of *task*.

    Raises:
        UserError: the task's image has no lock.
    """
    return digest(score_inputs(task, basis))


def score_inputs(task: Task, basis: ScoreBasis) -> dict[str, Any]:
    """What :func:`score_hash` covers, as plain values: two of these say why two hashes differ.

    Raises:
        UserError: the task's image has no lock.
    """
    if task.image not in basis.image_locks:
        known = ", ".join(sorted(basis.image_locks)) or "none"
        raise UserError(f"{task.folder / 'task.toml'}: image", f"no image {task.image!r} is locked", f"known: {known}")
    return {
        "grader": GRADER_VERSION,
        "platform": basis.platform,
        "format": Format(task.spec.format).value,
        "prompt": sha256_bytes(task.prompt.encode()),
        "before": task.before.digest,
        "hidden": task.hidden.digest,
        "visible_tests": sorted(task.visible_tests),
        "groups": sorted((to_value(group) for group in task.groups), key=lambda group: str(group["name"])),
        "limits": to_value(task.limits),
        "image": {"name": task.image, "lock": basis.image_locks[task.image]},
    }


def authoring_hash(task: Task) -> str:
    """The digest of what tells about a task without moving a score: candidates, provenance, canaries."""
    spec = task.spec
    return digest(
        {
            "reference": _candidate(task.reference),
            "wrong": [_candidate(one) for one in sorted(task.wrong, key=lambda one: one.name)],
            "provenance": to_value(spec.provenance) if spec.provenance else None,
            "canary": to_value(spec.canary) if spec.canary else None,
        }
    )


def task_ref(suite: Suite, task: Task, basis: ScoreBasis) -> TaskRef:
    """The task's identity in a plan and on a card.

    Raises:
        UserError: the task's image has no lock.
    """
    return TaskRef(
        suite=suite.name,
        suite_version=suite.version,
        task=task.id,
        score_hash=score_hash(task, basis),
        authoring_hash=authoring_hash(task),
    )


def suite_ref(suite: Suite, basis: ScoreBasis) -> SuiteRef:
    """The suite's identity: its version, and the digest of its tasks' ids and score hashes in any order.

    Raises:
        UserError: a task could not be loaded, or its image has no lock.
    """
    if suite.errors:
        raise suite.errors[0]
    tasks = combine((task.id, score_hash(task, basis)) for task in suite.tasks)
    return SuiteRef(name=suite.name, version=suite.version, hash=tasks)


def _candidate(one: Candidate) -> dict[str, Any]:
    return {"name": one.name, "why": one.why, "delete": sorted(one.delete), "overlay": one.overlay.digest}
