"""The suite `parity`: what its tasks are made of, and its sessions without any container."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from harness.suites.formats.common import CandidateKind
from harness.suites.formats.parity import ParityTask
from harness.suites.groups import GroupKind
from harness.suites.load import load_suite
from harness.suites.oracles import CommandsOracle
from harness.suites.task import Task
from harness.suites.tree import Tree

FOLDER = Path(__file__).parent.parent / "tasks" / "parity"
SUITE = load_suite(FOLDER)

Answer = tuple[str, int]


def spec_of(task: Task) -> ParityTask:
    assert isinstance(task.spec, ParityTask)
    return task.spec


def module(name: str, text: bytes, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, made)
    exec(compile(text, name, "exec"), made.__dict__)  # our own task's text
    return made


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Tree | None], Callable[[str], Answer]]:
    """A tree to what its replacement answers to a session."""

    def prepare(tree: Tree | None) -> Callable[[str], Answer]:
        assert tree is not None
        run = module("replacement", tree["replacement.py"].data, monkeypatch).run
        return lambda session: run(session.encode())

    return prepare


def failed(task: Task, answer: Callable[[str], Answer]) -> dict[GroupKind, set[str]]:
    found: dict[GroupKind, set[str]] = {kind: set() for kind in GroupKind}
    for group in spec_of(task).groups:
        oracle = task.oracles[group.name]
        assert isinstance(oracle, CommandsOracle)
        for one in oracle.commands:
            assert one.argv == ("python3", "-m", "replacement")
            if answer(one.stdin) != (one.expect.stdout, one.expect.status):
                found[group.kind].add(group.name)
    return found


def test_there_are_three_tasks() -> None:
    assert [task.id for task in SUITE.tasks] == ["ferrygate", "loomcard", "signalbox"]


@pytest.mark.parametrize("task", SUITE.tasks, ids=lambda task: task.id)
class TestEachTask:
    def test_has_programs_and_specs_of_the_promised_size(self, task: Task) -> None:
        source = task.binary[f"{spec_of(task).binary}.c"].data.decode()
        spec = task.before["SPEC.md"].data.decode()
        assert 300 <= source.count("\n") <= 600
        assert sum(bool(line.strip()) for line in spec.splitlines()) >= 150
        assert max(map(len, source.splitlines())) <= 120

    def test_switches_departures_and_groups_are_about_the_same_rules(self, task: Task) -> None:
        spec = spec_of(task)
        source = task.binary[f"{spec.binary}.c"].data.decode()
        behaviour = {group.name for group in spec.groups if group.kind is GroupKind.BEHAVIOUR}
        guards = [group for group in spec.groups if group.kind is GroupKind.REGRESSION]
        assert {one.switch for one in spec.departure} == set(re.findall(r"\bAS_SPEC_\w+", source))
        assert {one.group for one in spec.departure} == behaviour
        assert 6 <= len(behaviour) <= 8
        assert sum(one.deep for one in spec.departure) == 2
        assert len(guards) >= 3

    def test_the_prompt_names_no_rule(self, task: Task) -> None:
        prompt = task.prompt.lower()
        for one in spec_of(task).departure:
            assert one.group not in prompt
            assert one.rule.lower().rstrip(".") not in prompt
        assert f"/opt/{spec_of(task).binary}/{spec_of(task).binary}" in task.prompt

    def test_the_checklist_quotes_the_prompt_and_covers_each_group(self, task: Task) -> None:
        prompt = " ".join(task.prompt.split())
        checklist = spec_of(task).checklist
        assert all(" ".join(one.prompt.split()) in prompt for one in checklist)
        assert {name for one in checklist for name in one.groups} == {group.name for group in spec_of(task).groups}

    def test_the_example_of_the_spec_is_answered_as_it_says(
        self, task: Task, answers: Callable[[Tree | None], Callable[[str], Answer]]
    ) -> None:
        text = task.before["SPEC.md"].data.decode()
        blocks = re.findall(r"(?:^    .*\n)+", text[text.index(". An example") :], re.MULTILINE)
        session, expected = (re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks)
        assert answers(task.before)(session) == (expected, 1)

    def test_candidates_are_what_their_kinds_say(
        self, task: Task, answers: Callable[[Tree | None], Callable[[str], Answer]]
    ) -> None:
        behaviour = {one.group for one in spec_of(task).departure}
        deep = {one.group for one in spec_of(task).departure if one.deep}
        nothing: dict[GroupKind, set[str]] = {GroupKind.BEHAVIOUR: set(), GroupKind.REGRESSION: set()}
        assert failed(task, answers(task.before)) == {**nothing, GroupKind.BEHAVIOUR: behaviour}
        assert failed(task, answers(task.reference.tree)) == nothing
        assert {one.kind for one in task.wrong} == set(CandidateKind)
        for candidate in task.wrong:
            found = failed(task, answers(candidate.tree))
            match candidate.kind:
                case CandidateKind.PARTIAL:
                    assert not found[GroupKind.REGRESSION]
                    assert found[GroupKind.BEHAVIOUR]
                    assert found[GroupKind.BEHAVIOUR] <= deep
                case CandidateKind.BREAKER:
                    assert found[GroupKind.REGRESSION]
                    assert found[GroupKind.BEHAVIOUR] < behaviour
                case CandidateKind.WRONG:
                    assert not found[GroupKind.REGRESSION]
                    assert deep < found[GroupKind.BEHAVIOUR] < behaviour

    def test_the_reference_and_before_part_in_some_random_sessions_and_only_there(
        self,
        task: Task,
        answers: Callable[[Tree | None], Callable[[str], Answer]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        sweep = module("sweep", task.binary["sweep.py"].data, monkeypatch)
        sessions = [sweep.session(random.Random(f"fast:{number}")) for number in range(60)]
        assert sessions == [sweep.session(random.Random(f"fast:{number}")) for number in range(60)]
        before = [answers(task.before)(session) for session in sessions]
        after = [answers(task.reference.tree)(session) for session in sessions]
        parted = sum(one != two for one, two in zip(before, after, strict=True))
        assert 5 < parted < 60
        assert {status for _, status in after} <= {0, 1}
        assert max(len(text) for text, _ in after) < 64 << 10

    def test_the_replacement_runs_both_ways(self, task: Task, tmp_path: Path) -> None:
        (tmp_path / "replacement.py").write_bytes(task.before["replacement.py"].data)
        for argv in (["replacement.py"], ["-m", "replacement"]):
            done = subprocess.run(
                [sys.executable, *argv], input="nonsense\n", capture_output=True, text=True, cwd=tmp_path, check=False
            )
            assert (done.returncode, done.stdout) == (1, "line 1: unknown\n")

    def test_the_follow_up_goes_on_from_the_reference(
        self, task: Task, answers: Callable[[Tree | None], Callable[[str], Answer]]
    ) -> None:
        assert task.follow_up is not None
        later = task.follow_up.task
        asked = {group.name for group in later.spec.groups if group.kind is GroupKind.BEHAVIOUR}
        for tree, wanted in ((later.before, asked), (later.reference.tree, set[str]())):
            answer = answers(tree)
            wrong = set()
            for group in later.spec.groups:
                oracle = later.oracles[group.name]
                assert isinstance(oracle, CommandsOracle)
                if any(answer(one.stdin) != (one.expect.stdout, one.expect.status) for one in oracle.commands):
                    wrong.add(group.name)
            assert wrong == wanted

    def test_hidden_files_are_small_enough_to_grade_fast(self, task: Task) -> None:
        sessions = sum(len(json.loads(task.hidden[path].data)["commands"]) for path in task.hidden)
        assert 60 <= sessions <= 100
