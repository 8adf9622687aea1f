"""Grading: a tree goes into a fresh container of the pinned image, and verdicts come out.

Order matters: the candidate's change first, then the visible tests as they were, then (read-only, owned by root) what
the solver never saw; run; kill; re-hash; read. Expected values that the host holds never go in.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from harness.ahead import Ahead
from harness.engine.cgroup import NO_USE
from harness.engine.client import Engine
from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.errors import InfraError
from harness.evidence import GradeRecord
from harness.oracles.conditions import USUAL, Conditions
from harness.oracles.foreign import LOGS, TESTS, has_rewards, overlay_of, suite_tests
from harness.oracles.policy import examine
from harness.oracles.run import run_groups
from harness.store import Store
from harness.suites.groups import ExitStatusGroup, InTreeGroup, ReportGroup, RewardGroup
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.workspace import WORKSPACE, pack

GRADE = "/grade"
OBSERVATIONS_TYPE = "application/vnd.trialbox.observations+json"
_GRADE_MB = 16
_REWARD_MB = 4
UNPACK = ("tar", "--extract", "--file=-", "--no-same-owner", "--preserve-permissions")
_MAX_OBSERVATIONS = 16 << 20
_WITH_OWN_SETTINGS = (ExitStatusGroup, InTreeGroup, ReportGroup, RewardGroup)
"""Groups that run with the candidate's own test settings."""


class GradingRoom:
    """A fresh, sealed container for one grading, and its volumes; ``close`` removes all of it.

    Args:
        engine: where it runs.
        image: the engine's handle of the task's pinned image.
        task: the task; its limits hold here as they did for the solver.
        cpuset: the cores.
        owner: the state folder's digest, for the label.
        conditions: the surroundings.
    """

    def __init__(
        self, engine: Engine, image: str, task: Task, cpuset: str, owner: str, conditions: Conditions = USUAL
    ) -> None:
        limits = task.limits
        mounts = _volumes(task)
        self._volumes = Volumes(engine, owner, mounts)
        spec = SandboxSpec(
            role=Role.GRADER,
            image=image,
            volumes=mounts,
            binds=conditions.binds,
            tmp_mb=limits.tmp_mb,
            memory_mb=limits.memory_mb + _GRADE_MB + _restored_mb(task) + sum(one.size_mb for one in mounts[2:]),
            pids=limits.pids,
            cpuset=cpuset,
            workdir=task.workspace,
        )
        try:
            self.sandbox = Sandbox(engine, spec, owner)
        except BaseException:
            self._volumes.remove()
            raise

    def close(self) -> None:
        """Kill everything in it and remove it."""
        self.sandbox.destroy()
        self._volumes.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def grade(
    room: Ahead[GradingRoom], store: Store, task: Task, tree: Tree, conditions: Conditions = USUAL
) -> GradeRecord:
    """Grade *tree*, which is the task's ``before`` with a candidate's change applied.

    The room is taken only if the policy lets the change through.

    Raises:
        InfraError: the engine failed; nothing is said about the candidate.
    """
    started = time.monotonic_ns()
    nonce = secrets.token_hex(16)
    laid, gone = overlay_of(task)
    policy = examine(
        task.before,
        tree,
        visible_tests=task.visible_tests,
        laid_tests=tuple(laid),
        settings_matter=any(isinstance(group, _WITH_OWN_SETTINGS) for group in task.groups),
        take_programs_out=task.program is not None,
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
    graded = restore(graded, laid, (*laid, *gone))
    sandbox = room.take().sandbox
    unpacked = sandbox.run(UNPACK, stdin=pack(graded), timeout_s=60, max_output=4096)
    if unpacked.exit_status != 0:
        raise InfraError("grade", f"{len(graded)} files did not fit in the grader", "raise the task's limits")
    seconds = task.limits.grade_wall_s
    result = run_groups(
        sandbox, task, nonce=nonce, timeout_s=seconds, max_output=_MAX_OBSERVATIONS, conditions=conditions
    )
    return GradeRecord(
        verdicts=result.verdicts,
        rejection=result.rejection,
        rejection_detail=result.rejection_detail,
        flags=policy.flags,
        observations=store.put(result.observations, OBSERVATIONS_TYPE),
        graded_tree=graded.digest,
        nonce=nonce,
        seal=sandbox.seal,
        use=sandbox.usage(),
        wall_us=(time.monotonic_ns() - started) // 1000,
    )


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


def _restored_mb(task: Task) -> int:
    return -(-sum(-(-len(entry.data) // 4096) for entry in task.before.values()) // 256)


def _volumes(task: Task) -> tuple[VolumeMount, ...]:
    """The workspace has room for what the solver could leave and, over that, for all that is given back."""
    limits = task.limits
    return (
        VolumeMount(
            volume=opaque_name(),
            target=task.workspace,
            size_mb=limits.workspace_mb + _restored_mb(task),
            inodes=limits.workspace_inodes + task.before.inodes,
            no_copy=task.workspace != WORKSPACE,
        ),
        VolumeMount(volume=opaque_name(), target=GRADE, size_mb=_GRADE_MB, inodes=2048, uid=0),
        *(_reward_volumes(task) if has_rewards(task) else ()),
    )


def _reward_volumes(task: Task) -> tuple[VolumeMount, VolumeMount]:
    """Where an imported task's script finds its tests, and where it leaves its verdict."""
    tests = suite_tests(task)
    size_mb = _REWARD_MB + (tests.size >> 20) + tests.inodes // 256
    return (
        VolumeMount(
            volume=opaque_name(), target=TESTS, size_mb=size_mb, inodes=2048 + tests.inodes, uid=0, no_copy=True
        ),
        VolumeMount(volume=opaque_name(), target=LOGS, size_mb=_REWARD_MB, inodes=2048, no_copy=True),
    )
