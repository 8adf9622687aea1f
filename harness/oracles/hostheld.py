"""Host-held groups: one job for the driver, one exec, and verdicts from what came back."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.evidence import GroupVerdict
from harness.oracles.bundle import program
from harness.oracles.observe import PASSED, Observations, judge
from harness.suites.groups import CasesGroup, CommandsGroup, HostHeldGroup, OperationsGroup, Trust
from harness.suites.oracles import CommandsOracle
from harness.suites.task import Task

WORKSPACE = "/workspace"
ITEM_SECONDS = 10.0
"""The most that one case, scenario or command may take."""

ITEM_BYTES = 1 << 20
"""The most that one answer, or one file of a command, may hold."""


DRIVER = program("values", "processes", "calls", "commands", "driver")


def host_held(task: Task) -> list[HostHeldGroup]:
    """The task's host-held groups, in its order; a group's place in this list is its number in the job."""
    return [group for group in task.groups if isinstance(group, CasesGroup | OperationsGroup | CommandsGroup)]


def build_job(
    task: Task, groups: Sequence[HostHeldGroup], *, nonce: str, seconds: float, closed: bool = False
) -> bytes:
    """What the driver reads: inputs, marks and limits. No expectation is in it.

    *nonce* marks this grading, so that a later sighting can be dated; the task's exposure canary goes with it.
    *closed* is one of the :class:`harness.oracles.conditions.Conditions`.
    """
    described = []
    for group in groups:
        oracle = task.oracles[group.name]
        target = None if isinstance(oracle, CommandsOracle) else oracle.target
        described.append({"oracle": group.oracle, "target": target, "items": oracle.inputs(), "closed": closed})
    job = {
        "nonce": nonce,
        "canary": list(task.canaries[1:]),
        "workspace": WORKSPACE,
        "groups": described,
        "item_seconds": ITEM_SECONDS,
        "seconds": seconds,
        "max_bytes": ITEM_BYTES,
    }
    return json.dumps(job, ensure_ascii=False, separators=(",", ":")).encode()


def judge_groups(task: Task, groups: Sequence[HostHeldGroup], heard: Observations) -> dict[str, GroupVerdict]:
    """A verdict for each group, by name. A channel that carried strange lines vouches for none."""
    made = {}
    for number, group in enumerate(groups):
        said = judge(task.oracles[group.name], number, heard)
        failed = [n for n, why in enumerate(said) if why != PASSED]
        noun = {"cases": "case", "operations": "scenario", "commands": "command"}[group.oracle]
        detail = ""
        if heard.strange:
            detail = f"{heard.strange} lines of the observations speak for no check, or for one twice"
        elif failed:
            detail = f"{len(failed)} of {len(said)} failed; first {noun} {failed[0] + 1}: {said[failed[0]]}"
        made[group.name] = GroupVerdict(
            name=group.name,
            kind=group.kind,
            oracle=group.oracle,
            trust=Trust.HOST_HELD,
            passed=not detail,
            checks=len(said),
            checks_passed=0 if heard.strange else len(said) - len(failed),
            detail=detail,
        )
    return made
