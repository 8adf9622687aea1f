"""A small task made by hand, and a real grading container to run it in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.oracles.run import GroupsResult, run_groups
from harness.suites.formats.joule import JouleTask
from harness.suites.formats.repo import RepoTask
from harness.suites.oracles import CasesOracle, CommandsOracle, HostHeldOracle, OperationsOracle
from harness.suites.task import Candidate, Task
from harness.suites.tree import EXECUTABLE, REGULAR, Entry, Tree
from harness.workspace import WORKSPACE, pack

OWNER = "oracle-tests"
EXPOSURE = "trialbox-exposure-" + "5e" * 16
NONCE = "3f" * 16

PARSERS: Mapping[str, type[HostHeldOracle]] = {
    "cases": CasesOracle,
    "operations": OperationsOracle,
    "commands": CommandsOracle,
}


def tree(files: Mapping[str, str], executable: Sequence[str] = ()) -> Tree:
    """A tree of text files."""
    return Tree(
        Entry(path, EXECUTABLE if path in executable else REGULAR, text.encode()) for path, text in files.items()
    )


def make_task(before: Tree, groups: Sequence[Mapping[str, Any]], hidden: Mapping[str, Any]) -> Task:
    """A repo task. A host-held group's hidden file is given as its JSON value, without the canary."""
    files = {
        path: body if isinstance(body, str) else json.dumps({"canary": EXPOSURE, **body})
        for path, body in hidden.items()
    }
    spec = RepoTask.model_validate(
        {
            "schema": 1,
            "format": "repo",
            "title": "t",
            "canary": {"public": "trialbox-public-" + "ab" * 16, "exposure": EXPOSURE},
            "provenance": {
                "author_kind": "hand",
                "created": "2026-01-01",
                "licence": "Apache-2.0",
                "decontaminated": True,
            },
            "groups": [dict(group) for group in groups],
        },
        by_alias=True,
        strict=False,
    )
    oracles = {
        group["name"]: PARSERS[group["oracle"]].model_validate_json(files[group["file"].removeprefix("hidden/")])
        for group in groups
        if group["oracle"] in PARSERS
    }
    return _task(spec, before, tree(files), oracles)


def make_joule_task(before: Tree, command: str | tuple[str, ...], test_files: tuple[str, ...]) -> Task:
    """A plain joule-bench task."""
    return _task(JouleTask(name="j", prompt="p", test_cmd=command, test_files=test_files), before, Tree(), {})


def _task(spec: RepoTask | JouleTask, before: Tree, hidden: Tree, oracles: Mapping[str, HostHeldOracle]) -> Task:
    return Task(
        id="hand-made",
        folder=Path("hand-made"),
        spec=spec,
        prompt="p",
        before=before,
        hidden=hidden,
        reference=Candidate("reference", "", None, Tree(), (), before),
        wrong=(),
        oracles=oracles,
    )


@contextmanager
def grader(engine: Engine, image: str, candidate: Tree, *, pids: int = 64) -> Iterator[Sandbox]:
    """A grading container with the candidate's tree in its workspace."""
    mounts = (
        VolumeMount(volume=opaque_name(), target=WORKSPACE, size_mb=32, inodes=2000),
        VolumeMount(volume=opaque_name(), target="/grade", size_mb=8, inodes=500, uid=0),
    )
    volumes = Volumes(engine, OWNER, mounts)
    try:
        spec = SandboxSpec(role=Role.GRADER, image=image, volumes=mounts, pids=pids, memory_mb=320)
        with Sandbox(engine, spec, OWNER) as sandbox:
            unpacked = sandbox.run(
                ("tar", "-x", "-f", "-"), stdin=pack(candidate), timeout_s=30, max_output=4096, workdir=WORKSPACE
            )
            assert unpacked.exit_status == 0, unpacked.stderr
            yield sandbox
    finally:
        volumes.remove()


def grade(
    engine: Engine, image: str, task: Task, candidate: Tree, *, timeout_s: float = 60, pids: int = 64
) -> GroupsResult:
    """Grade one tree."""
    with grader(engine, image, candidate, pids=pids) as sandbox:
        return run_groups(sandbox, task, nonce=NONCE, timeout_s=timeout_s, max_output=8 << 20)


def by_name(result: GroupsResult) -> dict[str, tuple[bool, str]]:
    """Passed and detail of each group."""
    return {one.name: (one.passed, one.detail) for one in result.verdicts}


__all__ = ["Engine", "by_name", "grade", "grader", "make_joule_task", "make_task", "pytest", "tree"]
