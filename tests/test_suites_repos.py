"""The suite of projects: what it promises on paper, and a sample of gradings in real containers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.suites.formats.authored import ProjectTask
from harness.suites.formats.common import AuthorKind, CandidateKind
from harness.suites.groups import GroupKind, OracleKind, Trust, trust_of
from harness.suites.load import load_suite
from harness.suites.task import Task
from tests.oracle_rig import by_name, grade

REPOS = load_suite(Path(__file__).parent.parent / "tasks" / "repos")
ENTRY = re.compile(r"^- (\d{4}-\d{2}-\d{2}) ", re.MULTILINE)


@pytest.fixture(params=REPOS.tasks, ids=lambda task: task.id)
def task(request: pytest.FixtureRequest) -> Task:
    loaded: Task = request.param
    return loaded


def project(task: Task) -> ProjectTask:
    assert isinstance(task.spec, ProjectTask)
    return task.spec


def test_there_are_six_projects() -> None:
    assert len(REPOS.tasks) == 6
    assert REPOS.spec.require_checklist


def test_each_reads_as_a_project(task: Task) -> None:
    assert 8 <= len(task.before) <= 20
    assert {"README.md", "pyproject.toml"} <= task.before.keys()
    packages = Counter(path.split("/")[0] for path in task.before if path.endswith(".py"))
    assert packages[task.id] >= 6
    assert task.visible_tests


def test_its_history_lies_in_the_tree_and_ends_before_the_issue(task: Task) -> None:
    dates = [
        date for path, entry in task.before.items() if path.endswith(".md") for date in ENTRY.findall(_text(entry.data))
    ]
    assert len(dates) >= 20
    assert dates == sorted(dates, reverse=True)
    created = task.spec.provenance.created.isoformat() if task.spec.provenance else ""
    assert max(dates) < created


def test_groups_candidates_and_the_checklist(task: Task) -> None:
    kinds = Counter(group.kind for group in task.groups)
    assert kinds[GroupKind.BEHAVIOUR] >= 3
    assert kinds[GroupKind.REGRESSION] >= 2
    candidates = Counter(one.kind for one in task.wrong)
    assert all(candidates[kind] >= 1 for kind in CandidateKind)
    checklist = project(task).checklist
    words = " ".join(task.prompt.split())
    assert all(" ".join(entry.prompt.split()) in words for entry in checklist)
    assert {name for entry in checklist for name in entry.groups} == {group.name for group in task.groups}


def test_a_later_ticket_comes_with_each(task: Task) -> None:
    assert task.follow_up is not None
    told = project(task).follow_up
    assert told is not None
    assert Counter(group.kind for group in told.groups)[GroupKind.REGRESSION] >= 1
    assert not told.changes


def test_expectations_are_held_by_the_host_but_for_counted_comparisons(task: Task) -> None:
    in_process = {group.name for group in task.groups if trust_of(OracleKind(group.oracle)) is not Trust.HOST_HELD}
    assert in_process == ({"count-budget", "combined"} if task.id == "gridquery" else set())


def test_provenance_and_canaries() -> None:
    assert all(project(task).provenance.author_kind is AuthorKind.GENERATED for task in REPOS.tasks)
    canaries = [canary for task in REPOS.tasks for canary in task.canaries]
    assert len(set(canaries)) == len(canaries) == 12


def test_neither_prompt_speaks_of_how_it_is_graded(task: Task) -> None:
    assert task.follow_up is not None
    for prompt in (task.prompt, task.follow_up.task.prompt):
        assert not re.search(
            r"\b(tests?|pytest|hidden|benchmark|grad(?:e|ed|ing)|trialbox|oracle)\b", prompt, re.IGNORECASE
        )


@pytest.mark.engine
@pytest.mark.parametrize("name", ["gatehouse", "almanac"])
def test_a_sample_grades_as_it_should(engine: Engine, images: Mapping[str, BuiltImage], name: str) -> None:
    """The base fails every behaviour and keeps every regression; the reference passes; the breaker breaks."""
    task = REPOS.task(name)
    image = images["python"].handle
    behaviour = {group.name for group in task.groups if group.kind is GroupKind.BEHAVIOUR}
    assert task.reference.tree is not None
    (breaker,) = [one for one in task.wrong if one.kind is CandidateKind.BREAKER]
    assert breaker.tree is not None
    base = by_name(grade(engine, image, task, task.before))
    assert {group for group, (passed, _) in base.items() if not passed} == behaviour
    assert all(passed for passed, _ in by_name(grade(engine, image, task, task.reference.tree)).values())
    broken = by_name(grade(engine, image, task, breaker.tree))
    assert any(passed for group, (passed, _) in broken.items() if group in behaviour)
    assert not all(passed for group, (passed, _) in broken.items() if group not in behaviour)


def _text(data: bytes) -> str:
    return data.decode()
