"""The groups of imported tasks: pytest in the tree, scripts that print a report, scripts that write a reward.

All of them run beside the candidate's code with the tree's own settings, so none of their verdicts is worth what a
host-held one is; the trust that each carries says how much.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from harness.engine.exec import ExecResult
from harness.evidence import GroupVerdict
from harness.oracles.reports import (
    Status,
    look_up,
    parse_in_tree,
    parse_report,
    parse_reward,
    passes,
)
from harness.suites.formats.foreign import GRADING_FOLDERS, SCRIPT, ForeignTask, read_names
from harness.suites.groups import (
    InTreeGroup,
    OracleKind,
    ReportFormat,
    ReportGroup,
    RewardGroup,
    RewardSource,
    trust_of,
)
from harness.suites.task import Task
from harness.suites.tree import REGULAR, Entry, Tree
from harness.workspace import pack

GRADE = "/grade"
TESTS, LOGS = "/tests", "/logs"
TREE, SUITE_TESTS = GRADING_FOLDERS

_IN_TREE_BYTES = 12 << 20
_KEPT = 1 << 20
_REWARD_BYTES = 1 << 16
_RUN = f"{SCRIPT} 2>&1"
_PARSE = 'set -e; d=$(mktemp -d); tar -x -C "$d" -f -; python3 "$0" "$d/out" "$d/err" "$d/json" >&2; cat "$d/json"'
_EMPTY_LOGS = f"cd {LOGS} && chmod -R u+rwX . && rm -rf -- * .[!.]* ..?* && mkdir verifier agent artifacts"
"""What an earlier group's run left there, so perhaps the candidate, is no verdict of this one's script."""
_READ = "cat /logs/verifier/reward.json 2>/dev/null && exit 3; cat /logs/verifier/reward.txt 2>/dev/null && exit 4"


class Grader(Protocol):
    """What of the grading container this needs."""

    def left(self) -> float:
        """Seconds left."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        user: str | None = None,
        workdir: str = "/",
        max_output: int | None = None,
    ) -> ExecResult:
        """Run a program."""

    def put(self, archive: bytes, folder: str = GRADE) -> None:
        """Unpack into a root-owned volume."""

    def kill_leftovers(self) -> None:
        """End every process of the candidate's user."""


def overlay_of(task: Task) -> tuple[Tree, tuple[str, ...]]:
    """What is laid over the candidate's tree before an imported task's groups run, and what is taken out of it."""
    if not isinstance(task.spec, ForeignTask):
        return Tree(), ()
    laid = Tree(Entry(path.removeprefix(TREE), one.mode, one.data) for path, one in _under(task, TREE))
    return laid, task.spec.delete_at_grading


def suite_tests(task: Task) -> Tree:
    """The hidden files that go into ``/tests``."""
    return Tree(Entry(path.removeprefix(SUITE_TESTS), one.mode, one.data) for path, one in _under(task, SUITE_TESTS))


def has_rewards(task: Task) -> bool:
    """Whether the grader needs ``/tests`` and ``/logs``."""
    return any(isinstance(group, RewardGroup) for group in task.groups)


def pinned_tests(task: Task, group: InTreeGroup | ReportGroup) -> tuple[str, ...]:
    """The names that a group pins."""
    return read_names(task.hidden[group.tests.removeprefix("hidden/")].data)


def run_foreign(grader: Grader, task: Task) -> tuple[dict[str, GroupVerdict], dict[str, object]]:
    """Run every group of these kinds; verdicts by group, and what came out of the container."""
    verdicts: dict[str, GroupVerdict] = {}
    seen: dict[str, object] = {}
    in_tree = [group for group in task.groups if isinstance(group, InTreeGroup)]
    for python in dict.fromkeys(group.python for group in in_tree):
        _run_in_tree(grader, task, [group for group in in_tree if group.python == python], verdicts, seen)
    reports = [group for group in task.groups if isinstance(group, ReportGroup)]
    for key in dict.fromkeys((group.script, group.report, group.parser) for group in reports):
        sharing = [group for group in reports if (group.script, group.report, group.parser) == key]
        _run_report(grader, task, sharing, verdicts, seen)
    for group in task.groups:
        if isinstance(group, RewardGroup):
            _run_reward(grader, task, group, verdicts, seen)
    return verdicts, seen


def _run_in_tree(
    grader: Grader, task: Task, groups: list[InTreeGroup], verdicts: dict[str, GroupVerdict], seen: dict[str, object]
) -> None:
    names = [name for group in groups for name in pinned_tests(task, group)]
    job = in_tree_job(task.workspace, {name.split("::")[0] for name in names}, grader.left())
    ran = grader.run(in_tree_argv(groups[0].python), stdin=job, workdir="/")
    grader.kill_leftovers()
    said, uncollected, complete = parse_in_tree(ran.stdout)
    extra = "" if complete else "; the session did not come to its end"
    if uncollected:
        extra += f"; {uncollected} files could not be collected"
    for group in groups:
        verdicts[group.name] = _verdict(task, group, said, extra)
    seen["in_tree"] = {"said": _shown(ran.stdout), "stderr": _shown(ran.stderr), "status": ran.exit_status}


def in_tree_argv(python: str) -> tuple[str, ...]:
    """The program that runs tests in the tree, for an interpreter that has pytest."""
    return (python, "-s", "-B", "-c", _program())


def in_tree_job(workspace: str, files: Iterable[str], seconds: float) -> bytes:
    """What that program reads from its standard input."""
    job = {"workspace": workspace, "files": sorted(files), "seconds": seconds, "max_bytes": _IN_TREE_BYTES}
    return json.dumps(job).encode()


def _run_report(
    grader: Grader, task: Task, groups: list[ReportGroup], verdicts: dict[str, GroupVerdict], seen: dict[str, object]
) -> None:
    first = groups[0]
    folder = _stage_beside(grader, task)
    script = f"{folder}/{first.script.removeprefix('hidden/')}"
    separate = first.report is ReportFormat.TESTS_JSON
    ran = grader.run(("bash", "-c", SCRIPT if separate else _RUN, script), workdir=task.workspace)
    grader.kill_leftovers()
    report, extra = ran.stdout, ""
    if first.parser is not None:
        streams = Tree([Entry("err", REGULAR, ran.stderr), Entry("out", REGULAR, ran.stdout)])
        parser = f"{folder}/{first.parser.removeprefix('hidden/')}"
        parsed = grader.run(("sh", "-c", _PARSE, parser), stdin=pack(streams), workdir="/")
        report = parsed.stdout
        extra = "" if parsed.exit_status == 0 else f"; its parser ended with status {parsed.exit_status}"
    if ran.timed_out or ran.exit_status is None:
        extra += "; the script was still running at the limit"
    if ran.cut:
        extra += f"; {ran.dropped} bytes of its output were cut"
    said = parse_report(first.report, report)
    for group in groups:
        verdicts[group.name] = _verdict(task, group, said, extra)
    seen[f"report:{first.script}"] = {
        "status": ran.exit_status,
        "said": _shown(ran.stdout),
        "stderr": _shown(ran.stderr),
        "report": _shown(report) if first.parser else None,
    }


def _run_reward(
    grader: Grader, task: Task, group: RewardGroup, verdicts: dict[str, GroupVerdict], seen: dict[str, object]
) -> None:
    tests = suite_tests(task)
    if tests:
        grader.put(pack(tests, uid=0), TESTS)
    folder = _stage_beside(grader, task)
    emptied = grader.run(("sh", "-c", _EMPTY_LOGS)).exit_status == 0
    script = f"{folder}/{group.script.removeprefix('hidden/')}"
    ran = grader.run(("bash", "-c", _RUN, script), workdir=task.workspace)
    grader.kill_leftovers()
    written: bytes = b""
    match group.source:
        case RewardSource.FILE:
            read = grader.run(("sh", "-c", _READ), max_output=_REWARD_BYTES)
            written = read.stdout
            told = emptied and read.exit_status in {3, 4}
            reward = parse_reward(written, as_json=read.exit_status == 3) if told else None
            why = "no reward file with finite numbers was written"
        case RewardSource.PYTEST:
            said = parse_report(ReportFormat.PYTEST, ran.stdout)
            reward = {name: float(status in {Status.PASSED, Status.XFAIL}) for name, status in said.items()} or None
            why = "pytest's summary names no test"
    good = sum(value >= 1 for value in reward.values()) if reward else 0
    checks = len(reward) if reward else 1
    if reward:
        why = "" if good == checks else f"{checks - good} of {checks} results are below 1"
    verdicts[group.name] = GroupVerdict(
        name=group.name,
        kind=group.kind,
        oracle=OracleKind.REWARD,
        trust=trust_of(OracleKind.REWARD),
        passed=not why,
        checks=checks,
        checks_passed=good,
        detail=why,
    )
    seen[f"reward:{group.name}"] = {"status": ran.exit_status, "said": _shown(ran.stdout), "reward": _shown(written)}


def _verdict(task: Task, group: InTreeGroup | ReportGroup, said: Mapping[str, Status], extra: str) -> GroupVerdict:
    names = pinned_tests(task, group)
    found = look_up(said, names)
    failed = [number for number, name in enumerate(names) if not passes(found[name], group.kind)]
    detail = ""
    if failed:
        status = found[names[failed[0]]]
        why = "was not reported" if status is None else f"is reported as {status.value}"
        detail = f"{len(failed)} of {len(names)} failed; first test {failed[0] + 1} {why}{extra}"
    oracle = OracleKind(group.oracle)
    return GroupVerdict(
        name=group.name,
        kind=group.kind,
        oracle=oracle,
        trust=trust_of(oracle),
        passed=not failed,
        checks=len(names),
        checks_passed=len(names) - len(failed),
        detail=detail,
    )


def _stage_beside(grader: Grader, task: Task) -> str:
    """Stage the scripts, owned by root, in a folder with a random name."""
    name = secrets.token_hex(8)
    kept = [
        Entry(f"{name}/{path}", one.mode, one.data)
        for path, one in task.hidden.items()
        if not path.startswith((TREE, SUITE_TESTS)) and not path.endswith(".json")
    ]
    grader.put(pack(Tree(kept), uid=0))
    return f"{GRADE}/{name}"


def _under(task: Task, prefix: str) -> list[tuple[str, Entry]]:
    return [(path, entry) for path, entry in task.hidden.items() if path.startswith(prefix)]


@cache
def _program() -> str:
    text = Path(__file__).with_name("inside").joinpath("intree.py").read_text(encoding="utf-8")
    return text + "\nmain()\n"


def _shown(data: bytes) -> str:
    return data[:_KEPT].decode("utf-8", "backslashreplace")
