"""All groups of a task, run in one grading container: at most one exec for each family of oracles, then a re-hash."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.digest import canonical
from harness.engine.exec import ExecResult
from harness.engine.sandbox import Sandbox
from harness.evidence import GroupVerdict
from harness.oracles.hostheld import DRIVER, WORKSPACE, build_job, host_held, judge_groups
from harness.oracles.observe import parse_observations
from harness.outcomes import Rejection
from harness.suites.groups import ExitStatusGroup, Trust
from harness.suites.task import Task

ENVIRONMENT: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108 - the container's own
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""What every program of a grading sees on top of the image's own: nothing that differs between two gradings."""

_SPARE_S = 2.0
_KEPT_OUTPUT = 8192


@dataclass(frozen=True)
class GroupsResult:
    """What a grading gave.

    ``verdicts`` come in the task's order, one for each group, and are empty when there is a rejection.
    ``observations`` is canonical JSON of what came out of the container.
    """

    verdicts: tuple[GroupVerdict, ...]
    rejection: Rejection | None
    rejection_detail: str
    observations: bytes
    staged_intact: bool


@dataclass
class _Gathered:
    verdicts: dict[str, GroupVerdict] = field(default_factory=dict)
    observations: dict[str, object] = field(default_factory=dict)
    rejection: Rejection | None = None
    detail: str = ""
    intact: bool = True


def run_groups(sandbox: Sandbox, task: Task, *, nonce: str, timeout_s: float, max_output: int) -> GroupsResult:
    """Run every group of *task* on the tree that lies in the sandbox's workspace.

    Args:
        sandbox: a grader with the candidate's tree in ``/workspace`` and a root-owned volume at ``/grade``. The caller
            destroys it afterwards.
        task: the task.
        nonce: marks the hidden material of this grading.
        timeout_s: seconds for everything together; what has not run by then has failed.
        max_output: bytes kept of each exec's output.

    Raises:
        InfraError: the engine failed; nothing is said about the candidate.
    """
    deadline = time.monotonic() + timeout_s
    gathered = _Gathered()
    _run_host_held(sandbox, task, gathered, nonce=nonce, deadline=deadline, max_output=max_output)
    for group in task.groups:
        if isinstance(group, ExitStatusGroup):
            _run_command(sandbox, group, deadline, gathered)
    rejected = gathered.rejection is not None
    return GroupsResult(
        verdicts=() if rejected else tuple(gathered.verdicts[group.name] for group in task.groups),
        rejection=gathered.rejection,
        rejection_detail=gathered.detail,
        observations=canonical(gathered.observations),
        staged_intact=gathered.intact,
    )


def _left(deadline: float) -> float:
    return max(0.1, deadline - time.monotonic())


def _run_host_held(
    sandbox: Sandbox, task: Task, gathered: _Gathered, *, nonce: str, deadline: float, max_output: int
) -> None:
    groups = host_held(task)
    if not groups:
        return
    seconds = max(0.0, _left(deadline) - _SPARE_S)
    ran = sandbox.run(
        DRIVER,
        stdin=build_job(task, groups, nonce=nonce, seconds=seconds),
        timeout_s=_left(deadline),
        max_output=max_output,
        workdir="/",
        env=ENVIRONMENT,
    )
    heard = parse_observations(ran.stdout, [len(task.oracles[group.name].inputs()) for group in groups])
    gathered.verdicts |= judge_groups(task, groups, heard)
    gathered.observations["host_held"] = _readable(ran.stdout)
    gathered.observations["host_held_groups"] = [group.name for group in groups]


def _run_command(sandbox: Sandbox, group: ExitStatusGroup, deadline: float, gathered: _Gathered) -> None:
    ran = sandbox.run(
        group.argv, timeout_s=_left(deadline), max_output=_KEPT_OUTPUT, workdir=WORKSPACE, env=ENVIRONMENT
    )
    passed = ran.exit_status == 0
    gathered.verdicts[group.name] = GroupVerdict(
        name=group.name,
        kind=group.kind,
        oracle=group.oracle,
        trust=Trust.EXIT_STATUS,
        passed=passed,
        checks=1,
        checks_passed=int(passed),
        detail="" if passed else _how_it_ended(ran),
    )
    gathered.observations["exit_status"] = {
        "status": ran.exit_status,
        "stdout": _readable(ran.stdout),
        "stderr": _readable(ran.stderr),
        "dropped": ran.dropped,
    }


def _how_it_ended(ran: ExecResult) -> str:
    if ran.exit_status is None:
        return "the test command was still running at the limit"
    return f"the test command ended with exit status {ran.exit_status}"


def _readable(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
