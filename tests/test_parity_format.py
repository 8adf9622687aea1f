"""The parity format on disk: what is refused, and what moves its hashes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.suites.hashing import ScoreBasis, authoring_hash, score_hash
from harness.suites.load import load_task
from harness.suites.parity import find_programs
from harness.suites.parity_sweep import Agreement, ParityMeasure, Reached, images_for
from tests.parity_rig import NAME, RULES, write_parity_task
from tests.suites_rig import EXPOSURE, edit

BASIS = ScoreBasis({"python": "sha256:" + "3" * 64, "parity-orchard": "sha256:" + "4" * 64})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_parity_task(tmp_path / "tasks" / "little" / "orchard")


def test_a_solver_works_in_another_image_than_the_grader(folder: Path) -> None:
    task = load_task(folder)
    assert (task.image, task.solver_image) == ("python", "parity-orchard")
    assert task.images == ("python", "parity-orchard")
    assert task.program is not None
    assert task.program.path == f"/opt/{NAME}/{NAME}"
    assert set(task.binary) == {f"{NAME}.c", "sweep.py"}
    assert images_for(task) == {"python": "python", "parity-orchard": task.program, "compiler": "compiler"}


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("task.toml", 'group = "plum"', 'group = "peach"', "departure 'peach' is of no behaviour group"),
        ("task.toml", "deep = true", "deep = false", "at least 2 deep"),
        ("task.toml", f'binary = "{NAME}"', 'binary = "other"', "binary/other.c: is missing"),
        (f"binary/{NAME}.c", "AS_SPEC_PLUM", "AS_SPEC_PLUMS", "has no switch AS_SPEC_PLUM;"),
        (f"binary/{NAME}.c", "return -number;", "return -number + __LINE__;", "__LINE__ would put"),
        (f"binary/{NAME}.c", EXPOSURE, "nothing", "does not hold the exposure canary"),
        ("binary/sweep.py", "def session", "def sessions", "defines no function session"),
        ("binary/sweep.py", "def session(rng):", "def session(rng:", "is not Python"),
        ("before/SPEC.md", "A pear", f"{EXPOSURE} A pear", "holds a canary"),
    ],
)
def test_what_does_not_fit_is_named(folder: Path, path: str, old: str, new: str, said: str) -> None:
    edit(folder / path, old, new)
    with pytest.raises(UserError) as caught:
        load_task(folder)
    assert said in str(caught.value)


def test_another_switch_and_another_file_are_refused(folder: Path) -> None:
    source = folder / "binary" / f"{NAME}.c"
    source.write_text(source.read_text() + "#ifdef AS_SPEC_PEAR\n#endif\n")
    with pytest.raises(UserError, match="AS_SPEC_PEAR is the switch of no departure"):
        load_task(folder)
    edit(source, "#ifdef AS_SPEC_PEAR\n#endif\n", "")
    (folder / "binary" / "notes.txt").write_text(EXPOSURE)
    with pytest.raises(UserError, match=r"notes\.txt"):
        load_task(folder)


def test_the_program_its_sessions_and_its_image_move_the_score_hash(folder: Path) -> None:
    before = score_hash(load_task(folder), BASIS)
    for path in (f"binary/{NAME}.c", "binary/sweep.py"):
        text = (folder / path).read_text()
        (folder / path).write_text(text + "\n")
        assert score_hash(load_task(folder), BASIS) != before, path
        (folder / path).write_text(text)
    other = ScoreBasis({**BASIS.image_locks, "parity-orchard": "sha256:" + "5" * 64})
    assert score_hash(load_task(folder), other) != before
    edit(folder / "task.toml", "A plum counts one more.", "A plum counts for two.")
    assert score_hash(load_task(folder), BASIS) != before
    with pytest.raises(UserError, match="no image 'parity-orchard' is locked"):
        score_hash(load_task(folder), ScoreBasis({"python": "sha256:" + "3" * 64}))


def test_the_note_of_an_image_moves_no_hash(folder: Path) -> None:
    before = load_task(folder)
    (folder / "binary" / "image.json").write_text("{}")
    after = load_task(folder)
    assert score_hash(before, BASIS) == score_hash(after, BASIS)
    assert authoring_hash(before) == authoring_hash(after)


def test_programs_are_found_without_loading_suites(folder: Path) -> None:
    tasks = folder.parent.parent
    shutil.copytree(folder, tasks / "little" / "broken")
    (tasks / "little" / "broken" / "task.toml").write_text("format = ")
    assert [program.image for program in find_programs(tasks)] == ["parity-orchard"]


def test_a_measure_says_what_a_parity_task_must_not_have() -> None:
    agree = Agreement(sessions=200, differing=0, examples=())

    def faults(**reached: int) -> tuple[str, ...]:
        departures = tuple(Reached(group=rule, deep=RULES[rule], sessions=count) for rule, count in reached.items())
        return ParityMeasure(seed="s", reference=agree, base=agree, sessions=10_000, departures=departures).faults

    assert faults(plum=200, damson=199) == ()
    assert ["one that is not deep" in fault for fault in faults(plum=199)] == [True]
    assert ["a deep one" in fault for fault in faults(damson=200)] == [True]
    assert ["never reaches" in fault for fault in faults(damson=0)] == [True]
