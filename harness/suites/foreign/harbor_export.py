"""A suite of ours as Harbor task folders, graded there by the same groups as far as they can be."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel

from harness.oracles.hostheld import DRIVER, build_job, host_held
from harness.records import to_value
from harness.suites.edits import difference
from harness.suites.foreign.draft import Note, text_file, under
from harness.suites.foreign.own import HIDDEN, KEY, REST, WORKSPACE, harbor_limits
from harness.suites.foreign.toml import dump_toml
from harness.suites.formats.foreign import ForeignTask
from harness.suites.formats.joule import JouleTask
from harness.suites.formats.reply import ReplyTask
from harness.suites.formats.repo import RepoTask
from harness.suites.groups import ExitStatusGroup, GroupKind, PytestGroup
from harness.suites.task import Suite, Task
from harness.suites.tree import EXECUTABLE, Entry, Tree, read_tree

_TEST = "#!/bin/bash\nexec python3 /tests/grade.py\n"
_KILLS = "AGENT_UID = 10001"
"""In our own grader the driver ends whatever else its user runs; in Harbor's container that would be the verifier."""


def harbor_folder(suite: Suite, task: Task, image: str) -> Tree:
    """The files of a task's Harbor folder.

    Args:
        suite: the task's suite.
        task: any task that Harbor can grade (:func:`refusal`).
        image: the tag of its image, as ``trialbox images build`` leaves it in an engine.
    """
    prompt = None if isinstance(task.spec, JouleTask) else task.spec.prompt
    whole = read_tree(task.folder)
    native = ("before/", "hidden/")
    rest = Tree(one for path, one in whole.items() if not path.startswith(native) and path != prompt)
    parts: list[Entry] = [
        text_file("task.toml", dump_toml(_task_toml(suite, task, prompt, before="before" in _tops(whole)))),
        text_file("instruction.md", task.prompt),
        text_file("environment/Dockerfile", _dockerfile(task, image)),
        *under(WORKSPACE, task.before),
        *under(HIDDEN, task.hidden),
        *under("tests/visible", Tree(task.before[path] for path in task.visible_tests)),
        text_file("tests/test.sh", _TEST, EXECUTABLE),
        text_file("tests/grade.py", _program(), EXECUTABLE),
        text_file("tests/plan.json", json.dumps(_plan(task), sort_keys=True)),
        *under(REST, rest),
    ]
    if task.reference.tree is not None:
        overlay, gone = difference(task.before, task.reference.tree)
        parts += [*under("solution/reference", overlay), text_file("solution/solve.sh", _solve(gone), EXECUTABLE)]
    return Tree(parts)


def refusal(task: Task) -> str:
    """Why a task can't be exported; empty if it can."""
    return "it was imported itself: export it from where it came" if isinstance(task.spec, ForeignTask) else ""


def not_carried(task: Task) -> Iterator[Note]:
    """What Harbor has no place for, or keeps less well."""
    if task.oracles:
        yield Note(
            "host_held", "expected values lie in /tests of the verifier's container; here they never leave the host"
        )
    if any(isinstance(group, PytestGroup) for group in task.groups):
        yield Note("sentinels", "hidden tests run without sentinels, signed results and a re-hash afterwards")
    yield Note("limits", "processes, inodes, /tmp and output have no keys in Harbor; they are kept for the way back")
    yield Note("image", f"{task.image!r} goes by its tag in an engine that has it, not by its lock")
    yield Note("policy", "interpreter hooks, compiled files and changed test settings are not refused by name")
    yield Note("git", "the solver's tree has no git store with one commit")
    yield Note("nonce", "no mark of the grading is laid into the hidden files")
    if isinstance(task.spec, ReplyTask):
        yield Note("reply", "an answer is the workspace's files; none is read from what the solver prints")
    if isinstance(task.spec, ReplyTask) and task.spec.typecheck:
        yield Note("typecheck", "the type checker is not asked")
    if task.reference.tree is None:
        yield Note("solution", "the reference is a diff in a reply, kept for the way back; there is no solve.sh")
    if isinstance(task.spec, RepoTask) and task.spec.source is not None:
        source = f"{task.spec.source.project} {task.spec.source.version}"
        yield Note(
            "source", f"the tree of {source} lies in environment/workspace under its own licence, not by its digest"
        )
    if task.program is not None:
        yield Note(
            "program", "the task's program is in no image of Harbor's: its source is kept for the way back alone"
        )
    if task.follow_up is not None:
        yield Note("follow_up", "the later ticket is kept for the way back; Harbor has one step")


def _tops(whole: Tree) -> set[str]:
    return {path.split("/")[0] for path in whole}


def _task_toml(suite: Suite, task: Task, prompt: str | None, *, before: bool) -> Mapping[str, object]:
    limits = harbor_limits(task.limits)
    return {
        "schema_version": "1.4",
        "task": {"name": f"trialbox/{suite.name}-{task.id}", "version": suite.version, "description": task.spec.title},
        "metadata": {
            KEY: {
                "schema": 1,
                "suite": suite.name,
                "suite_version": suite.version,
                "task": task.id,
                "before": before,
                **({"prompt": prompt} if prompt else {}),
            }
        },
        "agent": {**limits["agent"], "network_mode": "no-network"},
        "verifier": {**limits["verifier"], "environment_mode": "shared"},
        "environment": {**limits["environment"], "network_mode": "no-network", "workdir": "/workspace"},
    }


def _dockerfile(task: Task, image: str) -> str:
    copy = "COPY --chown=10001:10001 workspace /workspace\n" if task.before else ""
    note = "# From a registry there is no such image: `trialbox images build` makes it from its lock.\n"
    return f"{note}FROM {image}\n{copy}WORKDIR /workspace\n"


def _solve(gone: tuple[str, ...]) -> str:
    removed = "".join(f"rm -f -- {shlex.quote(path)}\n" for path in gone)
    return f"#!/bin/bash\nset -e\ncd /workspace\n{removed}[ -d /solution/reference ] && cp -R /solution/reference/. .\n"


def _plan(task: Task) -> Mapping[str, object]:
    groups = host_held(task)
    job = json.loads(build_job(task, groups, nonce="", seconds=float(task.limits.grade_wall_s)))
    return {
        "driver": [word.replace(_KILLS, "AGENT_UID = -1") for word in DRIVER],
        "job": job,
        "names": [group.name for group in groups],
        "expected": [[_expected(one) for one in task.oracles[group.name].expectations()] for group in groups],
        "pytest": [
            {"name": one.name, "files": [path.removeprefix("hidden/") for path in one.files], "ids": list(one.ids)}
            for one in task.groups
            if isinstance(one, PytestGroup)
        ],
        "commands": {one.name: list(one.argv) for one in task.groups if isinstance(one, ExitStatusGroup)},
        "behaviour": [one.name for one in task.groups if one.kind is GroupKind.BEHAVIOUR],
        "regression": [one.name for one in task.groups if one.kind is GroupKind.REGRESSION],
        "visible_tests": list(task.visible_tests),
    }


def _expected(one: BaseModel | tuple[BaseModel, ...]) -> object:
    return [to_value(step) for step in one] if isinstance(one, tuple) else to_value(one)


def _program() -> str:
    return Path(__file__).with_name("inside").joinpath("verifier.py").read_text(encoding="utf-8")
