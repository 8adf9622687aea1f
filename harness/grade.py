"""Grading: a tree goes into a fresh container of the pinned image, and verdicts come out.

Order matters: the candidate's change first, then the visible tests as they were, then (read-only, owned by root) what
the solver never saw; run; kill; re-hash; read. Expected values that the host holds never go in.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass

from harness.engine.cgroup import NO_USE
from harness.engine.client import Engine
from harness.engine.sandbox import Sandbox, Volumes, opaque_name
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.errors import InfraError
from harness.evidence import GradeRecord
from harness.oracles.policy import examine
from harness.oracles.run import run_groups
from harness.store import Store
from harness.suites.groups import ExitStatusGroup
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.workspace import WORKSPACE, pack

GRADE = "/grade"
OBSERVATIONS_TYPE = "application/vnd.trialbox.observations+json"
_GRADE_MB = 16
_UNPACK = ("tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions")
_MAX_OBSERVATIONS = 16 << 20


@dataclass(frozen=True)
class Grader:
    """Where and with what a tree is graded. ``handle`` is the engine's handle of the task's pinned image."""

    engine: Engine
    handle: str
    store: Store
    cpuset: str
    owner: str


def grade(grader: Grader, task: Task, tree: Tree) -> GradeRecord:
    """Grade *tree*, which is the task's ``before`` with a candidate's change applied.

    Raises:
        InfraError: the engine failed; nothing is said about the candidate.
    """
    started = time.monotonic_ns()
    nonce = secrets.token_hex(16)
    policy = examine(
        task.before,
        tree,
        visible_tests=task.visible_tests,
        settings_matter=any(isinstance(group, ExitStatusGroup) for group in task.groups),
    )
    if policy.rejection is not None:
        return GradeRecord(
            verdicts=(),
            rejection=policy.rejection,
            rejection_detail=policy.detail,
            flags=policy.flags,
            nonce=nonce,
            use=NO_USE,
            wall_us=(time.monotonic_ns() - started) // 1000,
        )
    graded = restore(tree, task.before, policy.restore)
    mounts = _volumes(task)
    volumes = Volumes(grader.engine, grader.owner, mounts)
    try:
        limits = task.limits
        spec = SandboxSpec(
            role=Role.GRADER,
            image=grader.handle,
            volumes=mounts,
            tmp_mb=limits.tmp_mb,
            memory_mb=limits.memory_mb + _GRADE_MB,
            pids=limits.pids,
            cpuset=grader.cpuset,
        )
        with Sandbox(grader.engine, spec, grader.owner) as sandbox:
            unpacked = sandbox.run(_UNPACK, stdin=pack(graded), timeout_s=60, max_output=4096)
            if unpacked.exit_status != 0:
                raise InfraError("grade", f"{len(graded)} files did not fit in the grader", "raise the task's limits")
            result = run_groups(sandbox, task, nonce=nonce, timeout_s=limits.grade_wall_s, max_output=_MAX_OBSERVATIONS)
            return GradeRecord(
                verdicts=result.verdicts,
                rejection=result.rejection,
                rejection_detail=result.rejection_detail,
                flags=policy.flags,
                observations=grader.store.put(result.observations, OBSERVATIONS_TYPE),
                graded_tree=graded.digest,
                nonce=nonce,
                seal=sandbox.seal,
                use=sandbox.usage(),
                wall_us=(time.monotonic_ns() - started) // 1000,
            )
    finally:
        volumes.remove()


def restore(tree: Tree, before: Tree, paths: Iterable[str]) -> Tree:
    """The tree with *paths* as they were in *before*, byte for byte; a path that was not there is taken out."""
    wanted = set(paths)
    pristine = Tree(before[path] for path in wanted if path in before)
    in_the_way = {
        path
        for path in tree
        if path in wanted or any(path.startswith(one + "/") or one.startswith(path + "/") for one in pristine)
    }
    return tree.without(in_the_way).overlay(pristine)


def _volumes(task: Task) -> tuple[VolumeMount, ...]:
    limits = task.limits
    return (
        VolumeMount(
            volume=opaque_name(), target=WORKSPACE, size_mb=limits.workspace_mb, inodes=limits.workspace_inodes
        ),
        VolumeMount(volume=opaque_name(), target=GRADE, size_mb=_GRADE_MB, inodes=2048, uid=0),
    )
