"""All groups of a task, run in one grading container: at most one exec for each family of oracles, then a re-hash."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.engine.exec import ExecResult
from harness.engine.sandbox import Sandbox
from harness.engine.spec import ROOT_USER
from harness.errors import EngineGone, InfraError
from harness.evidence import GroupVerdict
from harness.oracles.conditions import USUAL, Conditions
from harness.oracles.foreign import run_foreign
from harness.oracles.hostheld import DRIVER, build_job, host_held, judge_groups
from harness.oracles.observe import parse_observations
from harness.oracles.sessions import judge_sessions, parse_sessions
from harness.oracles.staging import GRADE, REHASH, SESSIONS, build_sessions_job, is_intact, stage
from harness.outcomes import Rejection
from harness.suites.groups import ExitStatusGroup, HostHeldGroup, PytestGroup, Trust
from harness.suites.task import Task
from harness.workspace import pack

SPARE_S = 2.0
_LEAST_S = 3.0
"""What a program gets in any case: the end of leftovers and a re-hash after the deadline still have to be done."""
_NOTHING = ExecResult(None, b"", b"", dropped=0, timed_out=False, wall_us=0)
_KEPT_OUTPUT = 8192
_KEPT_STRANGE = 1 << 20
_KILL_TRIES = 2


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


def run_groups(
    sandbox: Sandbox, task: Task, *, nonce: str, timeout_s: float, max_output: int, conditions: Conditions = USUAL
) -> GroupsResult:
    """Run every group of *task* on the tree that lies in the sandbox's workspace.

    Args:
        sandbox: a grader with the candidate's tree in ``/workspace`` and a root-owned volume at ``/grade``. The caller
            destroys it afterwards.
        task: the task.
        nonce: marks the hidden material of this grading.
        timeout_s: seconds for everything together; what has not run by then has failed.
        max_output: bytes kept of each exec's output.
        conditions: the surroundings; another kind than usual shows whether they matter.

    Raises:
        InfraError: the engine failed; nothing is said about the candidate.
    """
    deadline = time.monotonic() + timeout_s
    gathered = _Gathered()
    grader = _Grader(sandbox, deadline, max_output, conditions)
    _run_host_held(grader, task, gathered, nonce)
    _run_sessions(grader, task, gathered, nonce)
    verdicts, seen = run_foreign(grader, task)
    gathered.verdicts |= verdicts
    gathered.observations |= seen
    for group in task.groups:
        if isinstance(group, ExitStatusGroup):
            _run_command(grader, group, task.workspace, gathered)
    rejected = gathered.rejection is not None
    return GroupsResult(
        verdicts=() if rejected else tuple(gathered.verdicts[group.name] for group in task.groups),
        rejection=gathered.rejection,
        rejection_detail=gathered.detail,
        observations=_written(gathered.observations),
        staged_intact=gathered.intact,
    )


class _Grader:
    """The sandbox, its deadline, and whether a candidate has already run in it."""

    def __init__(self, sandbox: Sandbox, deadline: float, max_output: int, conditions: Conditions) -> None:
        self._sandbox = sandbox
        self._deadline = deadline
        self._max_output = max_output
        self.conditions = conditions
        self._candidate_ran = False

    def left(self) -> float:
        """Seconds left for everything, less what it takes to hear the end."""
        return max(0.0, self._deadline - time.monotonic() - SPARE_S)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        user: str | None = None,
        workdir: str = "/",
        max_output: int | None = None,
    ) -> ExecResult:
        """Run a program. What the engine can't start after a candidate has run is the candidate's doing, not a fault.

        Raises:
            EngineGone: the engine stopped answering.
            InfraError: the engine refused the first program.
        """
        try:
            return self._sandbox.run(
                argv,
                stdin=stdin,
                timeout_s=max(_LEAST_S, self._deadline - time.monotonic()),
                max_output=max_output or self._max_output,
                user=user,
                workdir=workdir,
                env=self.conditions.env,
            )
        except EngineGone:
            raise
        except InfraError:
            if not self._candidate_ran:
                raise
            return _NOTHING
        finally:
            self._candidate_ran = True

    def put(self, archive: bytes, folder: str = GRADE) -> None:
        """Unpack into a root-owned volume."""
        self._sandbox.put(folder, archive)

    def kill_leftovers(self) -> None:
        """End every process of the candidate's user; the holding process is shielded by the kernel.

        Where a bomb has left no room for one more process, what comes after fails in its turn.
        """
        for _ in range(_KILL_TRIES):
            if self.run(("sh", "-c", "kill -9 -1"), max_output=_KEPT_OUTPUT).exit_status == 0:
                return


def _run_host_held(grader: _Grader, task: Task, gathered: _Gathered, nonce: str) -> None:
    groups = host_held(task)
    if not groups:
        return
    ran = grader.run(DRIVER, stdin=_job(grader, task, groups, nonce))
    heard = parse_observations(ran.stdout, [len(task.oracles[group.name].inputs()) for group in groups])
    if not heard.complete:
        grader.kill_leftovers()
    gathered.verdicts |= judge_groups(task, groups, heard)
    gathered.observations["host_held"] = {"groups": [group.name for group in groups], "said": _readable(ran.stdout)}


def _job(grader: _Grader, task: Task, groups: Sequence[HostHeldGroup], nonce: str) -> bytes:
    return build_job(task, groups, nonce=nonce, seconds=grader.left(), closed=grader.conditions.closed)


def _run_sessions(grader: _Grader, task: Task, gathered: _Gathered, nonce: str) -> None:
    groups = [group for group in task.groups if isinstance(group, PytestGroup)]
    if not groups:
        return
    staging = stage(task, groups, nonce)
    grader.put(pack(staging.tree, uid=0))
    ran = grader.run(SESSIONS, stdin=build_sessions_job(staging, grader.left())) if grader.left() else _NOTHING
    sessions, complete = parse_sessions(ran.stdout, len(groups))
    if not complete:
        grader.kill_leftovers()
    found = grader.run(REHASH, stdin=f"{GRADE}/{staging.top}".encode(), user=ROOT_USER)
    judged = judge_sessions(staging.groups, sessions)
    gathered.verdicts |= judged.verdicts
    gathered.rejection, gathered.detail = judged.rejection, judged.detail
    gathered.intact = found.exit_status == 0 and is_intact(staging, found.stdout)
    if found.exit_status != 0:
        gathered.verdicts |= {name: _unproved(one) for name, one in judged.verdicts.items()}
    elif not gathered.intact:
        gathered.rejection = Rejection.HIDDEN_MATERIAL_CHANGED
        gathered.detail = "the staged tests are not what they were before the run"
    gathered.observations["pytest"] = {"groups": [group.name for group in groups], "said": _readable(ran.stdout)}


def _unproved(verdict: GroupVerdict) -> GroupVerdict:
    why = "the staged tests could not be looked at afterwards: what the candidate started left no room"
    return verdict.model_copy(update={"passed": False, "checks_passed": 0, "detail": why})


def _run_command(grader: _Grader, group: ExitStatusGroup, workspace: str, gathered: _Gathered) -> None:
    ran = grader.run(group.argv, workdir=workspace, max_output=_KEPT_OUTPUT)
    grader.kill_leftovers()
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
    key = "exit_status" if "exit_status" not in gathered.observations else f"exit_status:{group.name}"
    gathered.observations[key] = {
        "status": ran.exit_status,
        "stdout": _readable(ran.stdout),
        "stderr": _readable(ran.stderr),
        "dropped": ran.dropped,
    }


def _how_it_ended(ran: ExecResult) -> str:
    if ran.exit_status is None:
        return "the test command was still running at the limit"
    return f"the test command ended with exit status {ran.exit_status}"


def _written(observations: Mapping[str, object]) -> bytes:
    """Canonical JSON (RFC 8785), by the fast writer: the keys are ours and ASCII, and no number needs its rules."""
    return json.dumps(observations, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _readable(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:  # ours never is: what a candidate forged is escaped byte by byte, and cut
        return data[:_KEPT_STRANGE].decode("utf-8", "backslashreplace")
