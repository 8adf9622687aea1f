"""The smoke suite that ships: what it promises on paper. That it grades right takes containers, and is tested there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.engine.images import list_images
from harness.releases import Releases
from harness.suites.admission.lint import lint
from harness.suites.formats.common import AuthorKind, CandidateKind, OracleVisibility
from harness.suites.groups import GroupKind, Trust
from harness.suites.hashing import ScoreBasis
from harness.suites.kept import FOLDER, keep, kept_versions, version_folder
from harness.suites.load import find_suites, load_suite
from harness.suites.lock import check_lock, lock_in
from harness.suites.oracles import inputs_and_expectations
from harness.suites.task import Task

ROOT = Path(__file__).parent.parent
SMOKE = load_suite(ROOT / "tasks" / "smoke")


@pytest.fixture(params=SMOKE.tasks, ids=lambda task: task.id)
def task(request: pytest.FixtureRequest) -> Task:
    loaded: Task = request.param
    return loaded


def test_it_covers_the_formats_and_oracles() -> None:
    assert [task.spec.format for task in SMOKE.tasks].count("repo") == 3
    assert [task.oracle_visibility for task in SMOKE.tasks].count(OracleVisibility.OPEN) == 1
    assert {group.oracle for task in SMOKE.tasks for group in task.groups} == {
        "cases",
        "operations",
        "commands",
        "pytest",
        "exit_status",
    }
    assert [task.trust for task in SMOKE.tasks].count(Trust.HOST_HELD) == 2


def test_each_task_has_what_a_task_needs(task: Task) -> None:
    assert task.wrong
    assert task.canaries
    assert task.spec.provenance is not None
    assert task.spec.provenance.author_kind is AuthorKind.GENERATED
    assert any(group.kind is GroupKind.BEHAVIOUR for group in task.groups)
    assert len([path for path in task.before if path.endswith(".py")]) >= 3


def test_what_the_prompt_says_is_listed_but_for_the_plain_one(task: Task) -> None:
    entries: Any = getattr(task.spec, "checklist", ())
    assert bool(entries) == (task.spec.format == "repo")
    anything = {one.name: frozenset(group.name for group in task.groups) for one in task.wrong}
    assert not entries or list(lint(task, entries, anything)) == []


def test_canaries_are_used_once() -> None:
    canaries = [canary for task in SMOKE.tasks for canary in task.canaries]
    assert len(set(canaries)) == len(canaries) == 7


def test_the_title_is_never_shown(task: Task) -> None:
    shown = [task.prompt.encode(), *(entry.data for entry in task.before.values())]
    assert not any(task.spec.title.encode() in data for data in shown) or task.spec.format == "joule"


def test_no_canary_and_no_expected_text_is_sent(task: Task) -> None:
    for oracle in task.oracles.values():
        inputs, _ = inputs_and_expectations(oracle)
        sent = json.dumps(inputs)
        assert not any(canary in sent for canary in task.canaries)
        assert '"expect"' not in sent
        assert '"raises"' not in sent


@pytest.mark.parametrize("folder", find_suites(ROOT / "tasks").values(), ids=lambda path: path.name)
def test_each_task_has_every_rung_that_its_groups_allow(folder: Path) -> None:
    """That the rungs are in order takes containers: admission asks for it."""
    for task in load_suite(folder, releases=Releases.fetching(print)).tasks:
        kinds = [group.kind for group in task.groups]
        wanted = {CandidateKind.WRONG}
        wanted |= {CandidateKind.PARTIAL} if kinds.count(GroupKind.BEHAVIOUR) > 1 else set()
        wanted |= {CandidateKind.BREAKER} if GroupKind.REGRESSION in kinds else set()
        assert {one.kind for one in task.wrong} == wanted, task.id


@pytest.mark.parametrize("folder", find_suites(ROOT / "tasks").values(), ids=lambda path: path.name)
def test_what_is_in_the_repository_is_what_was_locked(folder: Path) -> None:
    """A changed hash needs a new version: this is where it is noticed."""
    suite = load_suite(folder, releases=Releases.fetching(print))
    images = list_images(None, images_dir=ROOT / "images", programs=suite.programs)
    check_lock(suite, ScoreBasis({image.name: image.lock for image in images}))


@pytest.mark.parametrize("folder", find_suites(ROOT / "tasks").values(), ids=lambda path: path.name)
def test_every_version_that_was_ever_locked_is_kept(folder: Path, tmp_path: Path) -> None:
    """The current one too, as it is: once its files are changed for the next, nobody has them any more."""
    lock = lock_in(folder)
    assert lock is not None
    assert set(kept_versions(folder)) == lock.history.keys()
    releases = Releases.fetching(print)
    for version in lock.history.keys() - {lock.version}:
        suite = load_suite(version_folder(folder, version, tmp_path, releases), releases=releases)
        assert (suite.name, suite.version) == (lock.suite, version)
    copy, place = tmp_path / folder.name, Path(FOLDER, f"{lock.version}.tar.xz")
    shutil.copytree(folder, copy)
    before = (copy / place).read_bytes()
    keep(load_suite(copy, releases=releases))
    assert (copy / place).read_bytes() == before, "run `trialbox suite lock` and commit what it keeps"
