"""A task's candidates as scripts: carried out as an agent would, they leave the candidate's own tree."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.engine.spec import AGENT_USER
from harness.errors import UserError
from harness.extract import PYTHON_WORDS, last_block
from harness.gateway.scripted.plan import next_step
from harness.gateway.scripted.script import Script
from harness.gateway.scripted.tasks import candidate_named, script_for
from harness.suites.load import load_suite
from harness.suites.task import Candidate, Task
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree
from harness.workspace import WORKSPACE, Workspace, pack
from tests import scripted_rig as rig
from tests.scripted_rig import CODEX, MINI, OPENCODE, steps

TASKS = Path(__file__).parent.parent / "tasks"
BEFORE = Tree(
    [
        Entry("keep.txt", REGULAR, b"kept"),
        Entry("gone/old.py", REGULAR, b"x = 1\n"),
        Entry("link", LINK, b"keep.txt"),
        Entry("odd.txt", REGULAR, b"a\r\nb"),
        Entry("run.sh", REGULAR, b"#!/bin/sh\n"),
    ]
)
AFTER = Tree(
    [
        Entry("keep.txt", REGULAR, b"kept"),
        Entry("link", REGULAR, b"no longer a link\n"),
        Entry("new/link", LINK, b"../keep.txt"),
        Entry("odd.txt", REGULAR, b"a\r\nb\r\nno newline at the end"),
        Entry("bytes.bin", REGULAR, bytes(range(256)) * 300),
        Entry("run.sh", EXECUTABLE, b"#!/bin/sh\n"),
        Entry("new/it's here/file.py", REGULAR, b"print('$HOME `x`')\n"),
        Entry("empty", REGULAR, b""),
    ]
)


def shipped(suite: str, task_id: str) -> Task:
    return load_suite(TASKS / suite).task(task_id)


@pytest.fixture(scope="module")
def smoke() -> Task:
    return shipped("smoke", "seed-vault")


@pytest.fixture(scope="module")
def odd(smoke: Task) -> Task:
    reference = Candidate("reference", "", None, Tree(), (), AFTER)
    return dataclasses.replace(smoke, before=BEFORE, reference=reference)


def carried_out(engine, images, owner, task: Task, script: Script) -> Tree:
    """What a client with a shell alone leaves."""
    with Workspace(engine, images["base"].handle, task.limits, owner, tmp_mb=8) as workspace:
        workspace.seed(pack(task.before, prefix=WORKSPACE.lstrip("/") + "/"))
        for step in steps(script, tools=MINI):
            for call in step.calls:
                done = workspace.keeper.run(
                    ("bash", "-c", call.arguments["command"]),
                    stdin=b"",
                    timeout_s=60,
                    max_output=1 << 16,
                    user=AGENT_USER,
                    workdir=WORKSPACE,
                )
                assert done.exit_status == 0, done.stderr
        return workspace.read().tree


@pytest.mark.engine
def test_whatever_a_candidate_is_made_of_is_left_behind(engine, images, owner, odd):
    assert carried_out(engine, images, owner, odd, script_for(odd)) == AFTER


@pytest.mark.engine
def test_a_diff_is_applied_where_the_tree_is_not_known(engine, images, owner):
    task = shipped("functions", "seed-migration")
    left = carried_out(engine, images, owner, task, script_for(task))
    # With the tree given, the same comes about by writing files.
    known = script_for(task, tree=left)
    assert left != task.before and all(one.write is not None for one in known.turns[0].doings)
    assert carried_out(engine, images, owner, task, known) == left


@pytest.mark.engine
def test_a_wrong_candidate_is_made_too(engine, images, owner, smoke):
    wrong = smoke.wrong[0]
    assert candidate_named(smoke, wrong.name) is wrong
    left = carried_out(engine, images, owner, smoke, script_for(smoke, wrong))
    assert left == wrong.tree != smoke.reference.tree


def test_new_files_are_written_by_a_tool_and_changed_ones_by_the_shell(odd):
    """Some agents' tools refuse a file that was not read before."""
    first = next_step(script_for(odd), rig.asked(OPENCODE))
    paths = [call.arguments["filePath"] for call in first.calls if call.name == "write"]
    assert sorted(paths) == ["/workspace/empty", "/workspace/new/it's here/file.py"]
    # An empty file is no patch of whole lines: codex makes it by the shell, with the rest.
    first = next_step(script_for(odd), rig.asked(CODEX))
    assert [call.name for call in first.calls].count("apply_patch") == 1


def test_every_shipped_task_has_a_script_for_each_of_its_candidates():
    for suite in ("smoke", "repos", "functions"):
        for task in load_suite(TASKS / suite).tasks:
            for one in (task.reference, *task.wrong):
                script = script_for(task, one)
                assert script.turns[-1].done and script.workspace == "/workspace"
                assert script.reply == one.reply


def test_a_worker_is_given_the_reply():
    task = shipped("functions", "tile-cache")
    step = next_step(script_for(task), rig.asked())
    assert step.say == task.reference.reply
    assert last_block(step.say.encode(), PYTHON_WORDS) is not None


def test_aider_is_given_edit_blocks_with_what_is_there(smoke):
    step = next_step(script_for(smoke), rig.asked(system="use a *SEARCH/REPLACE block*"))
    for path, entry in smoke.reference.overlay.items():
        assert f"{path}\n```\n<<<<<<< SEARCH\n{smoke.before[path].data.decode()}=======\n" in step.say
        assert entry.data.decode() in step.say


def test_a_candidate_that_there_is_not_is_one_line(smoke):
    assert candidate_named(smoke, "reference") is smoke.reference
    with pytest.raises(UserError, match=r"has no candidate 'nosuch'; it has: reference, "):
        candidate_named(smoke, "nosuch")
    nothing = dataclasses.replace(smoke.reference, tree=smoke.before)
    with pytest.raises(UserError, match="has no reference that changes anything"):
        script_for(smoke, nothing)
