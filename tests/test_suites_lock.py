"""The lock: no hash changes under a version, no id comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.suites.hashing import ScoreBasis, suite_ref
from harness.suites.load import load_suite
from harness.suites.lock import LOCK_FILE, Standing, check_lock, lock_suite, standing
from tests.suites_rig import LOCKS, edit, write_repo_task, write_suite

BASIS = ScoreBasis(LOCKS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = write_suite(tmp_path / "little")
    lock_suite(load_suite(folder), BASIS)
    return folder


def refusal(folder: Path, basis: ScoreBasis = BASIS) -> str:
    """What both checking and locking anew say."""
    with pytest.raises(UserError) as locked:
        lock_suite(load_suite(folder), basis)
    with pytest.raises(UserError) as checked:
        check_lock(load_suite(folder), basis)
    assert "\n" not in str(locked.value) + str(checked.value)
    return str(locked.value)


def version(folder: Path, old: str, new: str) -> None:
    edit(folder / "suite.toml", f'"{old}"', f'"{new}"')


def test_a_lock_says_what_the_suite_is(folder: Path) -> None:
    suite = load_suite(folder)
    lock = check_lock(suite, BASIS)
    assert lock.hash == suite_ref(suite, BASIS).hash
    assert lock.history == {"1.0.0": lock.hash}
    text = (folder / LOCK_FILE).read_bytes()
    assert lock_suite(suite, BASIS) == lock
    assert (folder / LOCK_FILE).read_bytes() == text


def test_no_lock_is_one_line(folder: Path) -> None:
    (folder / LOCK_FILE).unlink()
    with pytest.raises(UserError, match=r"suite.lock.json: is missing; run `trialbox suite lock /[^`]*/little`") as no:
        check_lock(load_suite(folder), BASIS)
    assert str(folder.resolve()) in str(no.value), "a suite of the user's own is named by its folder alone"


def test_a_changed_task_needs_a_version(folder: Path) -> None:
    edit(folder / "adder/issue.md", "Mend", "Amend")
    assert "task 'adder' has another score hash, yet the version is still 1.0.0; raise the version" in refusal(folder)
    version(folder, "1.0.0", "1.0.1")
    with pytest.raises(UserError, match=r"locks version 1\.0\.0, suite\.toml says 1\.0\.1"):
        check_lock(load_suite(folder), BASIS)
    lock = lock_suite(load_suite(folder), BASIS)
    assert sorted(lock.history) == ["1.0.0", "1.0.1"]
    assert check_lock(load_suite(folder), BASIS) == lock


def test_an_image_lock_needs_a_version_too(folder: Path) -> None:
    said = refusal(folder, ScoreBasis({"python": "sha256:" + "4" * 64}))
    assert "task 'adder' has another score hash (the lock of image 'python' changed)" in said
    assert "(platform linux/amd64 -> linux/arm64)" in refusal(folder, ScoreBasis(LOCKS, "linux/arm64"))


def test_authoring_changes_need_a_new_lock_alone(folder: Path) -> None:
    edit(folder / "adder/reference/a.py", "x + y", "y + x")
    with pytest.raises(UserError, match="task 'adder' has another authoring hash; run"):
        check_lock(load_suite(folder), BASIS)
    lock_suite(load_suite(folder), BASIS)
    check_lock(load_suite(folder), BASIS)


def test_how_a_suite_lies_to_its_lock(folder: Path) -> None:
    """It is the files that count: a title or a platform moves nothing, and an authoring hash no score."""
    assert standing(load_suite(folder), BASIS) is Standing.LOCKED
    assert standing(load_suite(folder), ScoreBasis(LOCKS, "linux/arm64")) is Standing.LOCKED
    edit(folder / "adder/task.toml", '"A title"', '"Another"')
    edit(folder / "adder/reference/a.py", "x + y", "y + x")
    assert standing(load_suite(folder), BASIS) is Standing.LOCKED
    assert standing(load_suite(folder), ScoreBasis({"python": "sha256:" + "4" * 64})) is Standing.CHANGED
    edit(folder / "adder/hidden/test_plain.py", "pass", "assert True")
    assert standing(load_suite(folder), BASIS) is Standing.CHANGED
    version(folder, "1.0.0", "1.0.1")
    assert standing(load_suite(folder), BASIS) is Standing.UNLOCKED
    lock_suite(load_suite(folder), BASIS)
    assert standing(load_suite(folder), BASIS) is Standing.LOCKED
    version(folder, "1.0.1", "1.0.0")
    assert standing(load_suite(folder), BASIS) is Standing.CHANGED, "an earlier version is what it was locked as"
    (folder / LOCK_FILE).unlink()
    assert standing(load_suite(folder), BASIS) is Standing.UNLOCKED


def test_an_added_task_raises_the_minor_version(folder: Path) -> None:
    write_repo_task(folder / "third")
    edit(folder / "suite.toml", '"plain-adder"]', '"plain-adder", "third"]')
    assert "task 'third' was added" in refusal(folder)
    version(folder, "1.0.0", "1.0.1")
    with pytest.raises(UserError, match=r"'third' was added; raise the minor version of 1.0.0"):
        lock_suite(load_suite(folder), BASIS)
    version(folder, "1.0.1", "1.1.0")
    assert "third" in lock_suite(load_suite(folder), BASIS).tasks


def test_a_retired_id_never_comes_back(folder: Path) -> None:
    edit(folder / "suite.toml", '"adder", ', "")
    (folder / "adder").rename(folder.parent / "kept")
    assert "task 'adder' was removed" in refusal(folder)
    version(folder, "1.0.0", "2.0.0")
    assert lock_suite(load_suite(folder), BASIS).retired == ("adder",)
    (folder.parent / "kept").rename(folder / "adder")
    edit(folder / "suite.toml", '["plain', '["adder", "plain')
    version(folder, "2.0.0", "3.0.0")
    assert "'adder' is the id of a retired task; give the task a new id" in refusal(folder)


def test_a_version_never_goes_back(folder: Path) -> None:
    version(folder, "1.0.0", "0.9.0")
    assert "0.9.0 is older than the locked 1.0.0" in refusal(folder)


def test_a_damaged_lock_is_one_line(folder: Path) -> None:
    (folder / LOCK_FILE).write_text("{")
    assert "suite.lock.json: is not JSON" in refusal(folder)
    (folder / LOCK_FILE).write_text(json.dumps({"suite": "little"}))
    assert "suite.lock.json: version: this key is missing" in refusal(folder)
