"""The visible-tests selector's stage: an answer under the tests that a solver sees too, in a container of its own.

Nothing hidden is in the container and nothing hidden grades it here, so that what is picked among several attempts
rests on what anybody could know who has the task's tree. The picking itself is :mod:`scoring.selection`.
"""

from __future__ import annotations

import json
import time
from collections import Counter

from harness.ahead import Ahead
from harness.engine.cgroup import NO_USE
from harness.errors import InfraError
from harness.evidence import SelectingRecord
from harness.grade import OBSERVATIONS_TYPE, UNPACK, GradingRoom, restore
from harness.oracles.conditions import USUAL
from harness.oracles.foreign import in_tree_argv, in_tree_job
from harness.oracles.policy import examine
from harness.oracles.reports import Status, parse_in_tree
from harness.records import Plan, SelectorKind
from harness.store import Store
from harness.suites.task import Task
from harness.suites.tree import Entry, Tree
from harness.untrusted import clean_text
from harness.workspace import pack

NO_TESTS = "the task has no visible tests"
_MAX_OUTPUT = 16 << 20
_SPARE_S = 5.0
"""For the session's end to be heard."""
_PASSES = frozenset({Status.PASSED, Status.XFAIL})


def by_visible_tests(plan: Plan) -> bool:
    """Whether attempts of a plan go through this stage."""
    return plan.best_of is not None and plan.best_of.selector is SelectorKind.VISIBLE_TESTS


def visible_files(task: Task) -> tuple[str, ...]:
    """The task's visible tests that pytest can be asked to run."""
    return tuple(path for path in task.visible_tests if path.endswith(".py"))


def look(room: Ahead[GradingRoom], store: Store, task: Task, tree: Tree) -> SelectingRecord:
    """Run the task's visible tests, as they were, on an answer's tree.

    The room is taken only if there is something to run. A change that would alter how tests run passes none of them.

    Raises:
        InfraError: the engine failed; nothing is said about the answer.
    """
    began = time.monotonic_ns()
    files = visible_files(task)
    size = size_of(task.before, tree)
    policy = examine(task.before, tree, visible_tests=task.visible_tests)
    reason = NO_TESTS if not files else ""
    if files and policy.rejection is not None:
        reason = f"not run: {policy.rejection.value}: {policy.detail}"
    if reason:
        return SelectingRecord(
            files=files, tests=0, passed=0, size=size, reason=reason, use=NO_USE, wall_us=_since(began)
        )
    sandbox = room.take().sandbox
    laid = restore(tree, task.before, policy.restore)
    unpacked = sandbox.run(UNPACK, stdin=pack(laid), timeout_s=60, max_output=4096)
    if unpacked.exit_status != 0:
        raise InfraError("selecting", f"{len(laid)} files did not fit in the container", "raise the task's limits")
    seconds = float(task.limits.grade_wall_s)
    ran = sandbox.run(
        in_tree_argv("python3"),
        stdin=in_tree_job(task.workspace, files, seconds),
        timeout_s=seconds + _SPARE_S,
        max_output=_MAX_OUTPUT,
        workdir="/",
        env=USUAL.env,
    )
    told, uncollected, complete = parse_in_tree(ran.stdout)
    said = {name: status for name, status in told.items() if name.split("::")[0] in files}
    notes = [] if complete else ["the session did not come to its end"]
    if uncollected:
        notes.append(f"{uncollected} files could not be collected")
    seen = {
        "said": {clean_text(name, 400): status.value for name, status in sorted(said.items())},
        "stderr": ran.stderr[-8192:].decode("utf-8", "backslashreplace"),
        "status": ran.exit_status,
    }
    return SelectingRecord(
        files=files,
        tests=len(said),
        passed=sum(status in _PASSES for status in said.values()),
        size=size,
        reason="; ".join(notes),
        observations=store.put(json.dumps(seen, sort_keys=True).encode(), OBSERVATIONS_TYPE),
        seal=sandbox.seal,
        use=sandbox.usage(),
        wall_us=_since(began),
    )


def size_of(before: Tree, after: Tree) -> int:
    """How large a change is: bytes of the lines, and of the names of paths, that one tree has and the other has not.

    Lines are counted as a bag over each file, so that no algorithm of differences has a say in it.
    """
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    size = 0
    for path in changed:
        old, new = _lines(before.get(path)), _lines(after.get(path))
        size += sum(len(line) * count for bag in (old - new, new - old) for line, count in bag.items())
        size += len(path.encode()) if path not in before or path not in after else 0
    return size


def _lines(entry: Entry | None) -> Counter[bytes]:
    return Counter(entry.data.splitlines(keepends=True)) if entry is not None else Counter()


def _since(began: int) -> int:
    return (time.monotonic_ns() - began) // 1000
