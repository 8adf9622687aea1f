"""The two hashes of a task and the identity of a suite.

``score_hash`` covers everything that can move a score, ``authoring_hash`` the rest. A title (of a plain joule-bench
task, its name) moves neither, and neither do by-products, file times or the order of files on a disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.digest import combine, digest, sha256_bytes
from harness.errors import UserError
from harness.records import SuiteRef, TaskRef, to_value
from harness.suites.formats.authored import AuthoredTask
from harness.suites.formats.common import Format
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.parity import ParityTask
from harness.suites.formats.patch import PatchTask
from harness.suites.formats.reply import TYPING_IMAGE, ReplyTask
from harness.suites.groups import Group
from harness.suites.models import TaskSpec
from harness.suites.task import Candidate, FollowUp, Suite, Task

GRADER_VERSION = 1
"""Raised whenever a release's grading code could give another verdict on the same evidence than the release before.

There has been no release yet, and a card names the very source that graded."""

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
    inputs = {
        "grader": GRADER_VERSION,
        "platform": basis.platform,
        "format": Format(task.spec.format).value,
        "prompt": sha256_bytes(task.prompt.encode()),
        "before": task.before.digest,
        "hidden": task.hidden.digest,
        "visible_tests": sorted(task.visible_tests),
        "groups": _groups(task.groups),
        "limits": to_value(task.limits),
        "image": {"name": task.image, "lock": image_lock(task, basis)},
    }
    if isinstance(task.spec, ReplyTask):
        inputs["answer"] = _answer_inputs(task, task.spec, basis)
    if isinstance(task.spec, ParityTask):
        inputs["binary"] = task.binary.digest
        inputs["departures"] = sorted((to_value(one) for one in task.spec.departure), key=lambda one: str(one["group"]))
        inputs["solver_image"] = {"name": task.solver_image, "lock": _lock_of(task.solver_image, task, basis)}
    if task.follow_up is not None:
        inputs["follow_up"] = _follow_up_inputs(task.follow_up)
    if isinstance(task.spec, ForeignTask):
        inputs["workspace"] = task.spec.workspace
        inputs["delete_at_grading"] = sorted(task.spec.delete_at_grading)
    return inputs


def _answer_inputs(task: Task, spec: ReplyTask, basis: ScoreBasis) -> dict[str, Any]:
    return {
        "target": spec.target,
        "export": spec.export,
        "budget_lines": spec.budget_lines if isinstance(spec, PatchTask) else None,
        "typecheck": _lock_of(TYPING_IMAGE, task, basis) if spec.typecheck else None,
    }


def _follow_up_inputs(later: FollowUp) -> dict[str, Any]:
    return {
        "prompt": sha256_bytes(later.prompt.encode()),
        "hidden": later.hidden.digest,
        "groups": _groups(later.groups),
        "changes": sorted(later.changes),
    }


def _groups(groups: Iterable[Group]) -> list[Any]:
    return sorted((to_value(group) for group in groups), key=lambda group: str(group["name"]))


def image_lock(task: Task, basis: ScoreBasis) -> str:
    """The digest of what the task's image is meant to be: its lock's, or that of the engine's id it is pinned to.

    Raises:
        UserError: the task's image has no lock.
    """
    if isinstance(task.spec, ForeignTask) and task.spec.pinned_image is not None:
        return pin_digest(task.spec.pinned_image.id)
    return _lock_of(task.image, task, basis)


def image_locks(task: Task, basis: ScoreBasis) -> dict[str, str]:
    """The digests of the locks of every image that can move a score of the task, by the images' names.

    Raises:
        UserError: one has no lock.
    """
    others = {name: _lock_of(name, task, basis) for name in task.images if name != task.image}
    return {task.image: image_lock(task, basis), **others}


def _lock_of(name: str, task: Task, basis: ScoreBasis) -> str:
    if name not in basis.image_locks:
        known = ", ".join(sorted(basis.image_locks)) or "none"
        raise UserError(f"{task.folder / 'task.toml'}: image", f"no image {name!r} is locked", f"known: {known}")
    return basis.image_locks[name]


def pin_digest(engine_id: str) -> str:
    """What stands in a lock's place for an image that is pinned by the engine's own id."""
    return digest({"engine_image": engine_id})


def authoring_hash(task: Task) -> str:
    """The digest of what tells about a task without moving a score: candidates, provenance, canaries."""
    spec = task.spec
    return digest(
        {
            "reference": _candidate(task.reference),
            "wrong": [_candidate(one) for one in sorted(task.wrong, key=lambda one: one.name)],
            "provenance": to_value(spec.provenance) if spec.provenance else None,
            "canary": to_value(spec.canary) if spec.canary else None,
            **_checklist(spec),
            **({"follow_up": _candidate(task.follow_up.task.reference)} if task.follow_up else {}),
            **({"equivalent": [to_value(one) for one in spec.equivalent]} if spec.equivalent else {}),
        }
    )


def _checklist(spec: TaskSpec) -> dict[str, Any]:
    listed = spec.checklist if isinstance(spec, AuthoredTask) else ()
    return {"checklist": [to_value(one) for one in listed]} if listed else {}


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
    return {
        "name": one.name,
        "kind": one.kind,
        "why": one.why,
        "delete": sorted(one.delete),
        "overlay": one.overlay.digest,
        **({"reply": sha256_bytes(one.reply.encode())} if one.reply is not None else {}),
    }
