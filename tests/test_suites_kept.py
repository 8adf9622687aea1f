"""Versions that are kept: what was locked comes back, and nothing else does."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.oci.trees import MAX_TREE, pack_tree
from harness.releases import Releases
from harness.suites.hashing import ScoreBasis, suite_ref
from harness.suites.kept import FOLDER, keep, kept_versions, version_folder, without_kept
from harness.suites.load import load_suite
from harness.suites.lock import LOCK_FILE, Standing, lock_suite, standing
from harness.suites.tree import REGULAR, Entry, Tree, read_tree
from tests.suites_rig import LOCKS, edit, write_suite

BASIS = ScoreBasis(LOCKS)
FIRST = Path(FOLDER, "1.0.0.tar.xz")


def locked(folder: Path) -> str:
    """Lock and keep what is there; its hash."""
    hash_now = lock_suite(load_suite(folder), BASIS).hash
    keep(load_suite(folder))
    return hash_now


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A suite in its second version."""
    folder = write_suite(tmp_path / "little")
    locked(folder)
    edit(folder / "adder/issue.md", "Mend", "Amend")
    edit(folder / "suite.toml", '"1.0.0"', '"1.0.1"')
    locked(folder)
    return folder


def older(folder: Path, version: str = "1.0.0") -> Path:
    return version_folder(folder, version, folder.parent / "cache", Releases())


def refusal(folder: Path, version: str = "1.0.0") -> str:
    with pytest.raises(UserError) as refused:
        older(folder, version)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_an_older_version_comes_back_as_it_was(folder: Path) -> None:
    assert kept_versions(folder) == ("1.0.0", "1.0.1")
    suite = load_suite(older(folder))
    lock = json.loads((folder / LOCK_FILE).read_text())
    assert (suite.version, suite_ref(suite, BASIS).hash) == ("1.0.0", lock["history"]["1.0.0"])
    assert suite.task("adder").prompt == "Mend add.\n"
    assert standing(suite, BASIS) is Standing.LOCKED
    assert older(folder, "1.0.1") == folder
    assert not any(path.startswith(FOLDER) for path in without_kept(read_tree(folder)))


def test_keeping_again_changes_nothing_and_keeping_moves_no_hash(folder: Path) -> None:
    before = (folder / FIRST.with_name("1.0.1.tar.xz")).read_bytes()
    assert locked(folder) == suite_ref(load_suite(folder), BASIS).hash
    assert (folder / FIRST.with_name("1.0.1.tar.xz")).read_bytes() == before


def test_what_lies_in_the_cache_is_put_right(folder: Path) -> None:
    out = older(folder)
    edit(out / "adder/issue.md", "Mend", "Break")
    (out / "adder/more.txt").write_text("x")
    assert older(folder) == out
    assert load_suite(out).task("adder").prompt == "Mend add.\n"


def test_what_was_never_locked_or_is_not_kept_is_named(folder: Path) -> None:
    assert refusal(folder, "9.0.0") == (
        "suite little@9.0.0: is no version that was locked; current: 1.0.1; kept: 1.0.0, 1.0.1"
    )
    assert "is no version that was locked" in refusal(folder, "../../x")
    (folder / FIRST).unlink()
    assert "was locked, but there is no kept_versions/1.0.0.tar.xz; current: 1.0.1" in refusal(folder)


def test_another_suite_under_a_version_is_refused(folder: Path) -> None:
    tree = read_tree(older(folder))
    changed = {**tree, "adder/issue.md": Entry("adder/issue.md", REGULAR, b"Mend add, or not.\n")}
    (folder / FIRST).write_bytes(lzma.compress(pack_tree(Tree(changed.values()))))
    assert "1.0.0.tar.xz: has the hash sha256:" in refusal(folder)
    (folder / FIRST).write_bytes(lzma.compress(pack_tree(tree.without([LOCK_FILE]))))
    assert "holds no suite.lock.json; put it back as it was committed" in refusal(folder)
    lock = json.loads(tree[LOCK_FILE].data) | {"grader": 99}
    later = {**tree, LOCK_FILE: Entry(LOCK_FILE, REGULAR, json.dumps(lock).encode())}
    (folder / FIRST).write_bytes(lzma.compress(pack_tree(Tree(later.values()))))
    assert "is of grader 99, and this is grader 1, which may judge otherwise; run it with" in refusal(folder)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"hello, no archive at all", "is no xz file"),
        (lzma.compress(b"\0" * 4096)[:-20], "is cut off, or too large"),
        (lzma.compress(b"\0" * (MAX_TREE + 1), preset=0), "is cut off, or too large"),
        (lzma.compress(b"hello"), "is not acceptable"),
    ],
    ids=["no archive", "cut off", "a bomb", "no tar"],
)
def test_a_damaged_archive_is_one_line(folder: Path, data: bytes, said: str) -> None:
    (folder / FIRST).write_bytes(data)
    assert f"1.0.0.tar.xz: {said}" in refusal(folder)
