"""The suite of functions and patches: what it promises on paper, and a sample of it graded in containers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.extract import DIFF_WORDS, PYTHON_WORDS, fences
from harness.replies import candidate_tree, gate_failure
from harness.suites.admission.lint import lint
from harness.suites.admission.mutants import LEAST, MOST_EQUIVALENT, mutants_of
from harness.suites.admission.purity import impurities
from harness.suites.formats.common import AuthorKind, CandidateKind
from harness.suites.formats.function import FunctionTask
from harness.suites.formats.patch import PatchTask
from harness.suites.groups import GroupKind, Trust
from harness.suites.load import find_suites, load_suite
from harness.suites.oracles import inputs_and_expectations
from harness.suites.task import Candidate, Task
from harness.suites.tree import Tree
from tests.oracle_rig import by_name, grade

TASKS = Path(__file__).parent.parent / "tasks"
FUNCTIONS = load_suite(TASKS / "functions")
WRITTEN = [task for task in FUNCTIONS.tasks if isinstance(task.spec, FunctionTask)]
CRLF = "ferry/tariff.py"


@dataclass(frozen=True)
class Bench:
    """What the gates before grading need."""

    engine: Engine
    images: Mapping[str, BuiltImage]
    owner: str


@pytest.fixture(params=FUNCTIONS.tasks, ids=lambda task: task.id)
def task(request: pytest.FixtureRequest) -> Task:
    loaded: Task = request.param
    return loaded


def of_kind(task: Task, kind: GroupKind) -> list[str]:
    return [group.name for group in task.groups if group.kind is kind]


def all_candidates(task: Task) -> tuple[Candidate, ...]:
    return (task.reference, *task.wrong)


def test_it_holds_what_it_says() -> None:
    formats = [type(task.spec) for task in FUNCTIONS.tasks]
    assert (formats.count(FunctionTask), formats.count(PatchTask)) == (12, 4)
    oracles = [{group.oracle for group in task.groups} for task in FUNCTIONS.tasks]
    assert sum("operations" in kinds for kinds in oracles) >= 4
    assert FUNCTIONS.spec.require_checklist


def test_canaries_and_ids_are_used_once() -> None:
    suites = [load_suite(folder, keep_going=True) for folder in find_suites(TASKS).values()]
    ours = [canary for task in FUNCTIONS.tasks for canary in task.canaries]
    others = {
        canary for suite in suites if suite.name != "functions" for task in suite.tasks for canary in task.canaries
    }
    ids = {task.id for suite in suites if suite.name != "functions" for task in suite.tasks}
    assert len(ours) == len(set(ours)) == 2 * len(FUNCTIONS.tasks)
    assert not others & set(ours)
    assert not ids & {task.id for task in FUNCTIONS.tasks}


def test_each_task_has_what_a_task_needs(task: Task) -> None:
    assert task.trust is Trust.HOST_HELD
    assert task.spec.provenance is not None
    assert task.spec.provenance.author_kind is AuthorKind.GENERATED
    rows = [len(inputs_and_expectations(oracle)[0]) for oracle in task.oracles.values()]
    assert sum(rows) >= 12
    assert len(of_kind(task, GroupKind.BEHAVIOUR)) >= 2
    kinds = {one.kind for one in task.wrong}
    assert {CandidateKind.WRONG, CandidateKind.PARTIAL} <= kinds
    assert (CandidateKind.BREAKER in kinds) == bool(of_kind(task, GroupKind.REGRESSION))


def test_the_prompt_says_what_the_checklist_quotes(task: Task) -> None:
    entries: Any = getattr(task.spec, "checklist", ())
    anything = {one.name: frozenset(group.name for group in task.groups) for one in task.wrong}
    assert entries
    assert list(lint(task, entries, anything)) == []


def test_candidates_reply_as_a_worker_would(task: Task) -> None:
    words = DIFF_WORDS if isinstance(task.spec, PatchTask) else PYTHON_WORDS
    for one in all_candidates(task):
        assert one.reply is not None
        assert [fence.word in words for fence in fences(one.reply.encode())] == [True]
        assert not one.reply.lstrip().startswith("```")


def test_the_file_with_crlf_line_ends_still_has_them() -> None:
    data = FUNCTIONS.task("coach-fares").before[CRLF].data
    assert data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r") == 40


@pytest.mark.parametrize("task", WRITTEN, ids=lambda task: task.id)
def test_references_are_pure_and_have_mutants_enough(task: Task) -> None:
    """Those that need no container to be seen; admission looks at the others too."""
    tree = task.reference.tree
    assert tree is not None
    assert list(impurities(task.before, tree)) == []
    mutants = {one.id for one in mutants_of(task.before, tree)}
    recorded = {one.mutant for one in getattr(task.spec, "equivalent", ())}
    assert recorded <= mutants
    assert len(recorded) <= MOST_EQUIVALENT
    assert len(mutants - recorded) >= 2 * LEAST


@pytest.mark.engine
@pytest.mark.parametrize("name", ["tile-cache", "payment-terms", "coach-fares", "switchboard"])
def test_a_sample_is_told_apart(name: str, engine: Engine, images: Mapping[str, BuiltImage], owner: str) -> None:
    task, bench = FUNCTIONS.task(name), Bench(engine, images, owner)
    behaviour, regression = of_kind(task, GroupKind.BEHAVIOUR), of_kind(task, GroupKind.REGRESSION)

    def passed(tree: Tree) -> set[str]:
        result = grade(engine, images[task.image].handle, task, tree)
        return {group for group, (good, _) in by_name(result).items() if good}

    assert passed(task.before) == set(regression)
    for one in all_candidates(task):
        tree = candidate_tree(task, one, bench)
        assert gate_failure(task, tree, bench) is None
        good = passed(tree)
        whole, some = good >= set(behaviour), bool(good & set(behaviour))
        kept = good >= set(regression)
        match one.kind:
            case None:
                assert (whole, kept) == (True, True)
            case CandidateKind.WRONG:
                assert not (whole and kept)
            case CandidateKind.PARTIAL:
                assert (whole, some, kept) == (False, True, True)
            case CandidateKind.BREAKER:
                assert (some, kept) == (True, False)
