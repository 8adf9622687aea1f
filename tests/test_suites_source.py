"""Tasks that start from a public release: fetched by pip, read as hostile, cut to one fix, kept by digest."""

from __future__ import annotations

import gzip
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.digest import sha256_bytes
from harness.errors import InfraError, UserError
from harness.releases import Releases
from harness.releases.download import download
from harness.releases.sdist import read_sdist
from harness.suites.formats.repo import RepoTask
from harness.suites.hashing import ScoreBasis, authoring_hash, score_hash
from harness.suites.hunks import Hunk, apply, cut
from harness.suites.load import fetch_releases, load_task
from harness.suites.tree import REGULAR, Entry, Tree
from tests.releases_rig import (
    NEW,
    OLD,
    SETUP,
    archive,
    member,
    release,
    sdist,
    shelf,
    write_index,
    write_release_task,
)
from tests.suites_rig import LOCKS, edit, write


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What appears if code of a release runs."""
    return tmp_path / "mark"


@pytest.fixture
def releases(mark: Path) -> dict[str, bytes]:
    return {"1.0": release("1.0", OLD, mark), "1.1": release("1.1", NEW, mark)}


@pytest.fixture
def task(tmp_path: Path, releases: dict[str, bytes]) -> Path:
    return write_release_task(tmp_path / "suites" / "little" / "adder", releases["1.0"], releases["1.1"])


def message(action: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    return text


# ------------------------------------------------------------------------------------------------------ through pip


@pytest.fixture
def index(tmp_path: Path, releases: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> str:
    """The user's pip settings point at an index on disk."""
    address = write_index(tmp_path / "index", releases)
    user_pip(monkeypatch, address)
    return address


def user_pip(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", address)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@pytest.mark.usefixtures("index")
def test_pip_fetches_a_release_and_no_code_of_it_runs(tmp_path: Path, releases: dict[str, bytes], mark: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert download("demo-sum", "1.0", sha256_bytes(releases["1.0"]), scratch) == releases["1.0"]
    assert not mark.exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "system",
    [
        'requires = []\nbuild-backend = "own"\nbackend-path = ["."]',
        'requires = []\nbuild-backend = "setuptools.build_meta"\nbackend-path = ["."]',
        'requires = ["rare"]\nbuild-backend = "rare.builds:maker"',
    ],
)
def test_no_backend_of_a_release_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: Path, system: str
) -> None:
    code = SETUP.format(mark=str(mark))
    pyproject = f"[build-system]\n{system}\n"
    more = {"pyproject.toml": pyproject, "own.py": code, "setuptools/__init__.py": code, "rare/__init__.py": code}
    data = release("1.0", OLD, mark, **more)
    user_pip(monkeypatch, write_index(tmp_path / "index", {"1.0": data}))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert download("demo-sum", "1.0", sha256_bytes(data), scratch) == data
    assert not mark.exists()


def test_the_name_in_an_archive_is_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: Path) -> None:
    outside = tmp_path / "outside" / "x"
    outside.parent.mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    data = release("1.0", OLD, mark, **{"PKG-INFO": f"Metadata-Version: 2.1\nName: {outside}\nVersion: 1.0\n"})
    user_pip(monkeypatch, write_index(tmp_path / "index", {"1.0": data}))
    with pytest.raises(InfraError, match="pip download"):
        download("demo-sum", "1.0", sha256_bytes(data), scratch)
    assert list(outside.parent.iterdir()) == []


@pytest.mark.usefixtures("index")
def test_another_hash_than_the_index_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="pip download") as caught:
        download("demo-sum", "1.0", "sha256:" + "0" * 64, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("index")
def test_a_task_is_fetched_once_and_then_loads_offline(tmp_path: Path, task: Path) -> None:
    write(task.parent, {"suite.toml": _SUITE})
    root, heard = tmp_path / "cache", []
    fetch_releases(task.parent.parent, Releases(root, fetch=download, report=heard.append))
    assert heard == ["fetching release demo-sum 1.0", "fetching release demo-sum 1.1"]
    loaded = load_task(task, Releases(root))
    assert list(loaded.before) == ["a.py", "setup.py", "tests/test_a.py"]
    assert loaded.before["a.py"].data.decode() == OLD
    assert loaded.reference.tree is not None
    assert loaded.reference.tree["a.py"].data.decode() == OLD.replace("x - y", "x + y")
    assert list(loaded.reference.overlay) == ["a.py"]


_SUITE = 'schema = 1\nname = "little"\nversion = "1.0.0"\ndescription = "For tests."\ntasks = ["adder"]\n'


@pytest.mark.usefixtures("index")
def test_the_fixed_release_is_nowhere_afterwards(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    cache = tmp_path / "cache"
    load_task(task, Releases(cache, fetch=download))
    kept = sorted(path for path in cache.rglob("*") if path.is_file())
    assert [path.parent.name for path in kept] == ["fixes", "sources"]
    assert kept[1].read_bytes() == releases["1.0"]
    for path in kept:
        data = path.read_bytes()
        plain = gzip.decompress(data) if path.suffix == ".gz" else data
        assert b"only the later release says so" not in plain
        assert b"OTHER" not in plain
        assert len(data) < len(releases["1.1"]) or data == releases["1.0"]


def test_without_leave_to_fetch_the_remedy_is_named(tmp_path: Path, task: Path) -> None:
    text = message(lambda: load_task(task, Releases(tmp_path / "empty")))
    assert text.endswith("task.toml: source: release demo-sum 1.0 is not in the cache; run `trialbox images build`")
    assert not (tmp_path / "empty").exists()


# --------------------------------------------------------------------------------------------------------- the cache


def test_a_damaged_cache_counts_as_empty(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    filled = shelf(tmp_path / "cache", releases)
    first = load_task(task, filled)
    for path in (tmp_path / "cache").rglob("*.*"):
        path.write_bytes(path.read_bytes()[:-5])
    assert "is not in the cache" in message(lambda: load_task(task, Releases(tmp_path / "cache")))
    assert load_task(task, filled).before == first.before
    assert load_task(task, Releases(tmp_path / "cache")).reference == first.reference


def test_hunks_that_were_exchanged_in_the_cache_are_not_taken(
    tmp_path: Path, task: Path, releases: dict[str, bytes]
) -> None:
    load_task(task, shelf(tmp_path / "cache", releases))
    [kept] = (tmp_path / "cache" / "fixes").iterdir()
    edit(kept, "x + y", "x * y")
    assert "is not in the cache" in message(lambda: load_task(task, Releases(tmp_path / "cache")))


def test_another_archive_than_the_one_named_is_refused(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    swapped = {"1.0": releases["1.1"], "1.1": releases["1.0"]}
    with pytest.raises(InfraError, match="another archive was fetched"):
        load_task(task, shelf(tmp_path / "cache", swapped))
    assert not list((tmp_path / "cache").rglob("*.gz"))


MISTAKES = {
    "another tree": (
        'exclude = ["PKG-INFO", "docs"]',
        'exclude = ["PKG-INFO"]',
        "source.tree: the release gives sha256:",
    ),
    "another hunk": ('file = "a.py"\nsha256 = "sha256:', 'file = "a.py"\nsha256 = "sha256:' + "f" * 64, ""),
    "no such file": (
        '[[fix.hunks]]\nfile = "a.py"',
        '[[fix.hunks]]\nfile = "b.py"',
        "file: b.py is in neither release",
    ),
    "project": ('project = "demo-sum"', 'project = "../demo"', "source.project: string should match pattern"),
    "version": ('version = "1.0"', 'version = ">=1"', "source.version: string should match pattern"),
    "unknown key": ("[source]", "[source]\nurl = 1", "source.url: is an unknown key"),
}


@pytest.mark.parametrize(("old", "new", "expected"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_line(
    tmp_path: Path, task: Path, releases: dict[str, bytes], old: str, new: str, expected: str
) -> None:
    text = (task / "task.toml").read_text()
    if not expected:
        digest = text.rpartition('sha256 = "sha256:')[2][:64]
        old, new, expected = digest, "f" * 64, "a.py has no such hunk; it has line 1 sha256:"
    assert old in text
    (task / "task.toml").write_text(text.replace(old, new))
    assert expected in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))


def test_a_fix_has_a_most_of_lines(tmp_path: Path, mark: Path) -> None:
    new = OLD.replace("x - y", "x + y").replace("    return x + y\n", "    return x + y\n" + "    # and more\n" * 199)
    both = {"1.0": release("1.0", OLD, mark), "1.1": release("1.1", new, mark)}
    task = write_release_task(tmp_path / "adder", both["1.0"], both["1.1"])
    assert "201 lines change, at most 200 may" in message(lambda: load_task(task, shelf(tmp_path / "cache", both)))


def test_folders_of_the_other_kind_have_no_place(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    write(task, {"before/a.py": OLD})
    assert "before: is no part of a task" in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))
    shutil.rmtree(task / "before")
    whole = (task / "task.toml").read_text()
    (task / "task.toml").write_text(whole.partition("[fix]")[0])
    assert "[source] and [fix] go together" in message(lambda: load_task(task))
    (task / "task.toml").write_text(whole)
    edit(task / "task.toml", "[source]", '[reference]\ndelete = ["a.py"]\n\n[source]')
    assert "reference has no place" in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))


# -------------------------------------------------------------------------------------------------------- hashes


def test_the_score_hash_is_the_recorded_tree_s(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    one = load_task(task, shelf(tmp_path / "one", releases))
    other = load_task(task, shelf(tmp_path / "other", releases))
    basis = ScoreBasis(LOCKS)
    assert isinstance(one.spec, RepoTask)
    assert one.spec.source is not None
    assert one.before.digest == one.spec.source.tree
    assert score_hash(one, basis) == score_hash(other, basis)
    assert authoring_hash(one) == authoring_hash(other)


def test_a_changed_edit_moves_the_authoring_hash_alone(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    filled, basis = shelf(tmp_path / "cache", releases), ScoreBasis(LOCKS)
    first = load_task(task, filled)
    edit(task / "task.toml", "x + y + 2", "x + y + 3")
    second = load_task(task, filled)
    assert score_hash(first, basis) == score_hash(second, basis)
    assert authoring_hash(first) != authoring_hash(second)


# ---------------------------------------------------------------------------------------------- hostile archives

GOOD = member("demo-1/a.py", b"x = 1\n")
HOSTILE = {
    "climbs": [GOOD, member("demo-1/../b.py")],
    "absolute": [GOOD, member("/etc/b.py")],
    "device": [GOOD, member("demo-1/null", type=tarfile.CHRTYPE)],
    "fifo": [GOOD, member("demo-1/pipe", type=tarfile.FIFOTYPE)],
    "link out": [GOOD, member("demo-1/l", type=tarfile.SYMTYPE, linkname="../../etc/passwd")],
    "absolute link": [GOOD, member("demo-1/l", type=tarfile.SYMTYPE, linkname="/etc/passwd")],
    "hard link to nothing": [GOOD, member("demo-1/l", type=tarfile.LNKTYPE, linkname="/etc/passwd")],
    "git store": [GOOD, member("demo-1/.git/config")],
    "set-user bit": [member("demo-1/a.py", b"x", mode=0o4755)],
    "control character": [GOOD, member("demo-1/a\x1b[2J.py")],
    "names that fold": [GOOD, member("demo-1/A.PY")],
    "two top folders": [GOOD, member("other/b.py")],
    "a file at the top": [GOOD, member("b.py")],
    "nothing": [],
    "a file as a folder": [GOOD, member("demo-1/a.py/b.py")],
}


@pytest.mark.parametrize("members", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_archive_is_refused_by_name(members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    text = message(lambda: read_sdist(archive(members), "release demo 1"))
    assert text.startswith("release demo 1: ")
    assert "\x1b" not in text


def test_what_is_no_archive_is_refused() -> None:
    whole = sdist({"a.py": "x = 1\n" * 5000})
    for data in (b"", b"PK\x03\x04", whole[:-20], gzip.compress(b"no tar at all" * 100), whole[:10] + b"\0" * 50):
        assert "is not a whole .tar.gz" in message(lambda data=data: read_sdist(data, "release demo 1"))  # type: ignore[misc]


def test_a_bomb_is_refused_before_it_fills_the_memory() -> None:
    bomb = gzip.compress(b"\0" * (65 << 20))
    assert "over 67108864 bytes" in message(lambda: read_sdist(bomb, "release demo 1"))


def test_an_archive_reads_as_its_files() -> None:
    members = [
        member("demo-1", type=tarfile.DIRTYPE, mode=0o755),
        GOOD,
        member("demo-1/run", b"#!/bin/sh\n", mode=0o755),
        member("demo-1/__pycache__/a.pyc", b"junk"),
        member("demo-1/lib/l", type=tarfile.SYMTYPE, linkname="../a.py"),
    ]
    tree = read_sdist(archive(members), "release demo 1")
    assert {path: oct(entry.mode) for path, entry in tree.items()} == {
        "a.py": "0o644",
        "lib/l": "0o120000",
        "run": "0o755",
    }


# ---------------------------------------------------------------------------------------------------------- hunks

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "\x0b\n", "end"]), max_size=8).map("".join)


def _tree(text: str) -> Tree:
    return Tree([Entry("f", REGULAR, text.encode())])


@given(TEXTS, TEXTS)
def test_all_hunks_together_are_the_change(old: str, new: str) -> None:
    hunks = list(cut(_tree(old), _tree(new), "f"))
    assert apply(_tree(old), hunks) == _tree(new)
    assert apply(_tree(old), reversed(hunks)) == _tree(new)
    assert len({hunk.sha256 for hunk in hunks}) == len(hunks)


@given(TEXTS, TEXTS, st.data())
def test_any_of_the_hunks_can_be_applied_alone(old: str, new: str, data: st.DataObject) -> None:
    hunks = list(cut(_tree(old), _tree(new), "f"))
    some = data.draw(st.lists(st.sampled_from(hunks), unique=True)) if hunks else []
    made = apply(_tree(old), some)
    rest = list(cut(made, _tree(new), "f")) if some != hunks else []
    assert apply(made, rest) == _tree(new)


def test_a_file_may_be_new_and_a_hunk_may_not_fit() -> None:
    before = Tree([Entry("f", REGULAR, b"one\n")])
    [hunk] = cut(before, Tree([Entry("g", REGULAR, b"two\n")]), "g")
    assert apply(before, [hunk])["g"].data == b"two\n"
    with pytest.raises(ValueError, match="does not fit f at line 1"):
        apply(before, [Hunk(file="f", start=0, removed=("two\n",), added=())])
    with pytest.raises(ValueError, match="is in neither"):
        list(cut(before, before, "h"))


# ---------------------------------------------------------------------------------------------------------- edits

EDITS = {
    "twice": ("x - y", "x", "'x' stands"),
    "never": ("x - y", "x / y", "'x / y' stands 0 times in a.py, expected once"),
    "no file": ('file = "a.py"\nfind', 'file = "b.py"\nfind', "b.py is no file of the tree"),
    "no change": ("x + y + 2", "x - y", "leaves the starting tree as it is"),
    "the reference": ("x + y + 2", "x + y", "is identical to the reference"),
}


@pytest.mark.parametrize(("old", "new", "expected"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_that_says_nothing_is_one_line(
    tmp_path: Path, task: Path, releases: dict[str, bytes], old: str, new: str, expected: str
) -> None:
    edit(task / "task.toml", f'"{old}"' if not old.startswith("file") else old, f'"{new}"' if "=" not in new else new)
    assert expected in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))


def test_an_edit_may_start_from_the_reference(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    edit(task / "task.toml", 'why = "adds two"\n', 'why = "adds two"\non = "reference"\n')
    edit(task / "task.toml", 'find = "x - y"', 'find = "x + y"')
    [candidate] = load_task(task, shelf(tmp_path / "cache", releases)).wrong
    assert candidate.tree is not None
    assert candidate.tree["a.py"].data.decode() == OLD.replace("x - y", "x + y + 2")


def test_a_candidate_is_a_folder_or_edits(tmp_path: Path, task: Path, releases: dict[str, bytes]) -> None:
    write(task, {"wrong/off-by-two/a.py": OLD})
    assert "made by edits" in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))
    edit(task / "task.toml", 'why = "adds two"\n', 'why = "adds two"\ndelete = ["a.py"]\n')
    assert "edit and delete exclude each other" in message(lambda: load_task(task, shelf(tmp_path / "cache", releases)))
