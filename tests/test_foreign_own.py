"""Our own tasks as Harbor folders: back to the same score hash, and graded by the exported program to the same end."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, list_images
from harness.engine.images.archive import tag
from harness.errors import UserError
from harness.releases import Releases
from harness.suites.foreign.harbor_export import harbor_folder, not_carried
from harness.suites.foreign.importing import Kind
from harness.suites.foreign.toml import dump_toml
from harness.suites.foreign.write import write_tree
from harness.suites.hashing import ScoreBasis, authoring_hash, score_hash, score_inputs
from harness.suites.load import find_suites, load_suite
from harness.suites.task import Suite, Task
from tests.conftest import ROOT
from tests.foreign_rig import Rig

pytestmark = pytest.mark.engine

SUITES = {name: folder for name, folder in find_suites(ROOT / "tasks").items() if (folder / "suite.lock.json").exists()}
"""The finished ones: a suite that is being written may not load."""


@pytest.fixture
def rig(engine: Engine, images: dict[str, BuiltImage], owner: str) -> Rig:
    return Rig(engine, images, owner)


def basis(suite: Suite) -> ScoreBasis:
    listed = list_images(None, images_dir=ROOT / "images", programs=suite.programs)
    return ScoreBasis(image_locks={one.name: one.lock for one in listed})


def exported(suite: Suite, tasks: tuple[Task, ...], folder: Path, image: str) -> Path:
    for task in tasks:
        write_tree(harbor_folder(suite, task, image), folder / task.id)
    return folder


@pytest.mark.parametrize("name", SUITES)
def test_there_and_back_is_the_same_task(rig: Rig, tmp_path: Path, name: str) -> None:
    suite = load_suite(SUITES[name], releases=Releases.fetching(print))
    exported(suite, suite.tasks, tmp_path / "harbor", "trialbox/python:none")
    report, back = rig.bring(Kind.HARBOR, tmp_path / "harbor", tmp_path / "returned")
    known = basis(suite)
    for task in suite.tasks:
        twin = back.task(task.id)
        assert score_inputs(twin, known) == score_inputs(task, known)
        assert score_hash(twin, known) == score_hash(task, known)
        assert authoring_hash(twin) == authoring_hash(task)
        names = {note.name for note in not_carried(task)}
        assert {"limits", "image", "policy", "git", "nonce"} <= names
        assert ("host_held" in names) is bool(task.oracles)
    assert {one.not_carried[0].partition(":")[0] for one in report.tasks} == {"own"}


def test_what_was_changed_in_harbors_own_places_comes_along(rig: Rig, tmp_path: Path) -> None:
    suite = load_suite(SUITES["smoke"])
    task = suite.task("seed-vault")
    folder = exported(suite, (task,), tmp_path / "harbor", "trialbox/python:none") / task.id
    (folder / "instruction.md").write_text("Another prompt.\n")
    _, back = rig.bring(Kind.HARBOR, folder, tmp_path / "returned")
    known = basis(suite)
    changed = {
        key for key, value in score_inputs(back.tasks[0], known).items() if value != score_inputs(task, known)[key]
    }
    assert changed == {"prompt"}
    toml = tomllib.loads((folder / "task.toml").read_text())
    toml["verifier"]["timeout_sec"] = 7
    (folder / "task.toml").write_text(dump_toml(toml))
    with pytest.raises(UserError, match=r"verifier\.timeout_sec: is 7, the task's own limit is"):
        rig.bring(Kind.HARBOR, folder, tmp_path / "again")


@pytest.mark.parametrize("task_id", ["bead-string", "lantern-cues", "purl-rows", "seed-vault"])
def test_the_exported_grader_says_what_ours_says(
    rig: Rig, images: dict[str, BuiltImage], tmp_path: Path, task_id: str
) -> None:
    """Imported as if it were anyone's: its own test.sh writes the reward."""
    suite = load_suite(SUITES["smoke"])
    task = suite.task(task_id)
    folder = exported(suite, (task,), tmp_path / "harbor", tag("python", images["python"].ref.id)) / task.id
    toml = tomllib.loads((folder / "task.toml").read_text())
    del toml["metadata"]
    (folder / "task.toml").write_text(dump_toml(toml))
    _, back = rig.bring(Kind.HARBOR, folder, tmp_path / "foreign")
    (twin,) = back.tasks
    assert twin.before == task.before
    assert twin.reference.tree == task.reference.tree
    assert rig.scores(twin, tmp_path) == (Fraction(1), Fraction(0))
    for one in task.wrong:
        assert rig.score(twin, one.tree, tmp_path) == 0
