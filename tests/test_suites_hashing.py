"""Trees and hashes: what moves them and what never does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UserError
from harness.records import Limits
from harness.suites.hashing import ScoreBasis, authoring_hash, score_hash, suite_ref, task_ref
from harness.suites.limits import HEADROOM_MB, check_limits, needed_kb
from harness.suites.load import load_suite, load_task
from harness.suites.tree import EXECUTABLE, LINK, REGULAR, Entry, Tree, read_tree
from tests.suites_rig import LOCKS, edit, write, write_joule_task, write_repo_task, write_suite

BASIS = ScoreBasis(LOCKS)

NAMES = st.text("abcdé0._-", min_size=1, max_size=6).filter(lambda name: name.strip(".") and name != ".git")
TREES = st.dictionaries(
    st.lists(NAMES.map(lambda name: "f" + name), min_size=1, max_size=3).map("/".join),
    st.tuples(st.sampled_from([REGULAR, EXECUTABLE]), st.binary(max_size=12)),
    max_size=6,
).filter(lambda files: not any(one != two and two.startswith(one + "/") for one in files for two in files))


def put(folder: Path, files: dict[str, tuple[int, bytes]]) -> None:
    for name, (mode, data) in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)


def as_tree(files: dict[str, tuple[int, bytes]]) -> Tree:
    return Tree(Entry(name, mode, data) for name, (mode, data) in files.items())


@given(TREES, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_a_tree_on_disk_is_its_files(files: dict[str, tuple[int, bytes]], random: object) -> None:
    names = list(files)
    random.shuffle(names)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        put(root, {name: files[name] for name in names})
        before = read_tree(root)
        assert before == as_tree(files)
        for name in ("__pycache__/x.cpython-313.pyc", "a.pyc", ".pytest_cache/v", ".DS_Store", "a.py~", ".a.py.swp"):
            write(root, {name: "left behind"})
        (root / "empty").mkdir(exist_ok=True)
        for name in names:
            os.utime(root / name, (1, 1))
        after = read_tree(root)
    assert after == before
    assert after.digest == before.digest
    assert list(after) == sorted(files, key=str.encode)


@given(TREES, TREES)
@settings(max_examples=60, deadline=None)
def test_different_trees_have_different_digests(
    one: dict[str, tuple[int, bytes]], two: dict[str, tuple[int, bytes]]
) -> None:
    assert (as_tree(one).digest == as_tree(two).digest) == (one == two)


@given(TREES, TREES)
@settings(max_examples=60, deadline=None)
def test_laws_of_overlay_and_deletion(one: dict[str, tuple[int, bytes]], two: dict[str, tuple[int, bytes]]) -> None:
    base, over = as_tree(one), as_tree(two)
    try:
        both = base.overlay(over)
    except ValueError as error:
        assert "both a file and a folder" in str(error)
        return
    assert both == as_tree({**one, **two})
    assert both.overlay(over) == both
    assert both.without(set(two) - set(one)).keys() == base.keys()
    assert base == as_tree(one)


def test_modes_and_links_count(tmp_path: Path) -> None:
    write(tmp_path, {"bin/run": "x"})
    plain = read_tree(tmp_path)
    (tmp_path / "bin/run").chmod(0o700)
    executable = read_tree(tmp_path)
    (tmp_path / "bin/also").symlink_to("../bin/run")
    linked = read_tree(tmp_path)
    assert len({plain.digest, executable.digest, linked.digest}) == 3
    assert linked["bin/also"] == Entry("bin/also", LINK, b"../bin/run")
    assert linked.inodes == 4


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "../../x", "a/../../../x", "x/.."])
def test_links_that_may_leave_are_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "d").symlink_to(target)
    with pytest.raises(UserError, match="may leave the tree"):
        read_tree(tmp_path)


def test_bad_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a\nb").write_text("")
    with pytest.raises(UserError, match="control character"):
        read_tree(tmp_path)
    (tmp_path / "a\nb").unlink()
    (tmp_path / os.fsdecode(b"a\xff")).write_text("")
    with pytest.raises(UserError, match="not UTF-8"):
        read_tree(tmp_path)


# ------------------------------------------------------------------------------------------------------------ hashes


def hashes(folder: Path) -> tuple[str, str]:
    task = load_task(folder)
    return score_hash(task, BASIS), authoring_hash(task)


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_repo_task(tmp_path / "adder")


SCORE_CHANGES = {
    "prompt": ("issue.md", "Mend", "Amend"),
    "before": ("before/a.py", "x - y", "x  - y"),
    "visible test": ("before/tests/test_a.py", "True", "1"),
    "hidden oracle": ("hidden/adds.json", "[1, 2]", "[2, 1]"),
    "hidden test": ("hidden/test_plain.py", "pass", "..."),
    "limit": ("task.toml", "[canary]", "[limits]\nwall_s = 61\n[canary]"),
    "visible tests list": ("task.toml", 'visible_tests = ["tests/test_a.py"]', ""),
    "group name": ("task.toml", '"adds"', '"sums"'),
}
AUTHORING_CHANGES = {
    "reference": ("reference/a.py", "x + y", "y + x"),
    "wrong": ("wrong/off-by-two/a.py", "+ 2", "+ 3"),
    "why": ("task.toml", "adds two", "adds too much"),
    "notes": ("task.toml", "decontaminated = true", 'decontaminated = true\nnotes = "x"'),
    "licence": ("task.toml", "Apache-2.0", "MIT"),
    "public canary": ("task.toml", "trialbox-public-1", "trialbox-public-0"),
}


@pytest.mark.parametrize(("name", "old", "new"), SCORE_CHANGES.values(), ids=SCORE_CHANGES.keys())
def test_what_moves_the_score_hash_alone(task: Path, name: str, old: str, new: str) -> None:
    before = hashes(task)
    edit(task / name, old, new)
    after = hashes(task)
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(("name", "old", "new"), AUTHORING_CHANGES.values(), ids=AUTHORING_CHANGES.keys())
def test_what_moves_the_authoring_hash_alone(task: Path, name: str, old: str, new: str) -> None:
    before = hashes(task)
    edit(task / name, old, new)
    after = hashes(task)
    assert after[0] == before[0]
    assert after[1] != before[1]


@pytest.mark.parametrize("name", ["before/a.py", "hidden/test_plain.py"])
def test_a_mode_moves_the_score_hash(task: Path, name: str) -> None:
    before = hashes(task)
    (task / name).chmod(0o755)
    assert hashes(task)[0] != before[0]


def test_a_title_moves_neither(task: Path, tmp_path: Path) -> None:
    before = hashes(task)
    edit(task / "task.toml", "A title", "Another title")
    assert hashes(task) == before
    joule = write_joule_task(tmp_path / "plain")
    before = hashes(joule)
    edit(joule / "task.toml", 'name = "adder"', 'name = "summer"')
    assert hashes(joule) == before
    edit(joule / "task.toml", "pytest -q tests", "pytest -q tests/test_a.py")
    assert hashes(joule)[0] != before[0]


def test_the_order_of_groups_moves_neither(task: Path) -> None:
    before = hashes(task)
    text = (task / "task.toml").read_text()
    head, first, second = text.split("[[groups]]")
    (task / "task.toml").write_text(f"{head}[[groups]]{second}\n[[groups]]{first}")
    assert hashes(task) == before


def test_leftovers_and_times_move_neither(task: Path) -> None:
    before = hashes(task)
    write(task, {"before/__pycache__/a.cpython-313.pyc": "x", "hidden/.adds.json.swp": "x", "task.toml~": "x"})
    for place in task.rglob("*.py"):
        os.utime(place, (5, 5))
    assert hashes(task) == before


@given(st.binary(min_size=1, max_size=40), st.data())
@settings(max_examples=25, deadline=None)
def test_any_byte_of_before_moves_the_score_hash(data: bytes, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(data) - 1))
    bit = draw.draw(st.integers(0, 7))
    other = data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
    with tempfile.TemporaryDirectory() as folder:
        task = write_repo_task(Path(folder) / "adder")
        (task / "before/data.bin").write_bytes(data)
        before = hashes(task)
        (task / "before/data.bin").write_bytes(other)
        assert hashes(task)[0] != before[0]


@pytest.mark.parametrize("field", sorted(Limits.model_fields))
def test_any_limit_moves_the_score_hash(task: Path, field: str) -> None:
    before = hashes(task)
    value = getattr(Limits(), field) + 1
    edit(task / "task.toml", "[canary]", f"[limits]\n{field} = {value}\n[canary]")
    assert hashes(task)[0] != before[0]


def test_image_lock_and_platform_move_the_score_hash(task: Path) -> None:
    loaded = load_task(task)
    other = ScoreBasis({"python": "sha256:" + "4" * 64})
    arm = ScoreBasis(LOCKS, platform="linux/arm64")
    unused = ScoreBasis({**LOCKS, "other": "sha256:" + "5" * 64})
    assert len({score_hash(loaded, basis) for basis in (BASIS, other, arm)}) == 3
    assert score_hash(loaded, unused) == score_hash(loaded, BASIS)
    with pytest.raises(UserError, match="image: no image 'python' is locked"):
        score_hash(loaded, ScoreBasis({}))


def test_a_suite_is_its_tasks_in_any_order(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "little")
    suite = load_suite(folder)
    before = suite_ref(suite, BASIS)
    edit(folder / "suite.toml", '["adder", "plain-adder"]', '["plain-adder", "adder"]')
    edit(folder / "suite.toml", "For tests.", "For other tests.")
    assert suite_ref(load_suite(folder), BASIS) == before
    assert task_ref(suite, suite.tasks[0], BASIS).suite_version == "1.0.0"
    edit(folder / "adder/issue.md", "Mend", "Amend")
    assert suite_ref(load_suite(folder), BASIS).hash != before.hash


def test_a_broken_suite_has_no_identity(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "little")
    (folder / "adder/issue.md").unlink()
    with pytest.raises(UserError, match=r"issue\.md"):
        suite_ref(load_suite(folder, keep_going=True), BASIS)


@given(
    st.builds(
        Limits,
        memory_mb=st.integers(128, 4096),
        workspace_mb=st.integers(1, 1024),
        workspace_inodes=st.integers(64, 500_000),
        home_mb=st.integers(1, 512),
        home_inodes=st.integers(64, 200_000),
        tmp_mb=st.integers(1, 512),
    )
)
def test_volumes_must_fit_into_memory(limits: Limits) -> None:
    kib = 1024 * (limits.workspace_mb + limits.home_mb + limits.tmp_mb + HEADROOM_MB)
    fits = kib + limits.workspace_inodes + limits.home_inodes <= 1024 * limits.memory_mb
    assert (needed_kb(limits) <= 1024 * limits.memory_mb) == fits
    if fits:
        check_limits(limits, "task.toml")
    else:
        with pytest.raises(UserError, match=r"task.toml: limits.memory_mb: .* raise memory_mb to at least"):
            check_limits(limits, "task.toml")


def test_the_default_limits_fit() -> None:
    check_limits(Limits(), "defaults")
