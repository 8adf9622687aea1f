"""What pytest groups need in the grading container: hidden files, sentinels and our own configuration, owned by root.

Sentinels are tests that must fail or must pass, under names made anew for every grading, among the hidden ones: a
candidate that makes every test pass, fail or skip gives itself away.
"""

from __future__ import annotations

import json
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.digest import loads
from harness.oracles.bundle import program
from harness.suites.groups import PytestGroup
from harness.suites.task import Task
from harness.suites.tree import Entry, Tree

SESSIONS = program("processes", "session", "sessions")
REHASH = program("rehash")

GRADE = "/grade"
WORKSPACE = "/workspace"
INI = "pytest.ini"
_INI_TEXT = b"[pytest]\n"

_WORDS = """
accepts adds again all allows also and apart applies back bare basic before both bounds case checks clean
close copies counts default each edge empty ends equal every extra fails field file first fits given gives
group held holds inner input item keeps key kind large last late left length limit list long longer lower
makes many mixed name nested new none odd old one only open order other outer over pair parts place plain
range raises reads repeat result returns right same second set short shows simple single size skips small
sorted stable stays strict takes tail text third tiny total two type under unique until upper value wide with
without works wraps writes zero
""".split()  # noqa: SIM905 - words read best as words


_IMPORTS = "import json\nimport math\nimport operator\nimport os\nimport re\nimport unittest\n\nimport pytest\n\n\n"
_BUILTINS = """\
    assert not all([1, 0]) and not any([0]) and not isinstance(1, str) and not issubclass(int, str)
    assert len([1]) == 1 and sorted([2, 1]) == [1, 2] and repr(1) == "1" and not math.isclose(1, 2)
    assert not re.match("a", "b") and not re.search("a", "b") and not re.fullmatch("a", "ab")
    assert json.loads("[1]") != [2] and json.dumps([1]) == "[1]" and not operator.eq(1, 2) and not os.path.exists("/no")
"""
_HELPERS = """\
    def silent(manager):
        with manager:
            max(low, high)

    for one in (
        lambda: silent(pytest.raises(ValueError)),
        lambda: silent(pytest.warns(UserWarning)),
        lambda: pytest.fail("x"),
    ):
        try:
            one()
        except pytest.fail.Exception:
            continue
        return
    if low == pytest.approx(high) or not low != pytest.approx(high):
        return
    with pytest.raises(ValueError):
        int("x")
    raise ValueError(low)
"""
_ASSERTIONS = """\
        def silent(manager):
            with manager:
                max(low, high)

        for one in (
            lambda: self.assertEqual(low, high),
            lambda: self.assertNotEqual(low, low),
            lambda: self.assertTrue(low == high),
            lambda: self.assertFalse(low < high),
            lambda: self.assertIs(low, high),
            lambda: self.assertIsNot(self, self),
            lambda: self.assertIsNone(low),
            lambda: self.assertIsNotNone(None),
            lambda: self.assertIn(low, [high]),
            lambda: self.assertNotIn(low, [low]),
            lambda: self.assertIsInstance(low, str),
            lambda: self.assertNotIsInstance(low, int),
            lambda: self.assertAlmostEqual(low, high),
            lambda: self.assertNotAlmostEqual(low, low),
            lambda: self.assertGreater(low, high),
            lambda: self.assertGreaterEqual(low, high),
            lambda: self.assertLess(high, low),
            lambda: self.assertLessEqual(high, low),
            lambda: self.assertRegex("a", "b"),
            lambda: self.assertNotRegex("a", "a"),
            lambda: self.assertCountEqual([low], [high]),
            lambda: self.assertListEqual([low], [high]),
            lambda: self.assertTupleEqual((low,), (high,)),
            lambda: self.assertSetEqual({low}, {high}),
            lambda: self.assertDictEqual({low: 1}, {high: 1}),
            lambda: self.assertSequenceEqual([low], [high]),
            lambda: self.assertMultiLineEqual("a", "b"),
            lambda: silent(self.assertRaises(ValueError)),
            lambda: silent(self.assertRaisesRegex(ValueError, "x")),
            lambda: silent(self.assertWarns(UserWarning)),
            lambda: silent(self.assertLogs()),
            lambda: self.fail("x"),
        ):
            try:
                one()
            except AssertionError:
                continue
            return
        raise AssertionError(low)
"""


@dataclass(frozen=True)
class Sentinels:
    """Node ids by what they must do, and the files that hold them.

    ``quiet`` are those of ``must_fail`` that unittest runs: it takes what they raise before pytest sees it.
    """

    must_fail: frozenset[str]
    must_pass: frozenset[str]
    quiet: frozenset[str]
    files: Tree


@dataclass(frozen=True)
class StagedGroup:
    """One group as staged: its folder inside :data:`GRADE`, what is in it, and the ids in the order they run."""

    group: PytestGroup
    folder: str
    files: Tree
    sentinels: Sentinels
    order: tuple[str, ...]


@dataclass(frozen=True)
class Staging:
    """Everything that is put into :data:`GRADE`. ``top`` is its one folder there, under a random name."""

    top: str
    tree: Tree
    groups: tuple[StagedGroup, ...]


def stage(task: Task, groups: Sequence[PytestGroup], nonce: str) -> Staging:
    """Lay out the hidden files of *groups*, each Python file marked with *nonce*."""
    top = secrets.token_hex(8)
    entries = [Entry(f"{top}/{INI}", 0o644, _INI_TEXT)]
    staged = []
    for number, group in enumerate(groups):
        hidden = Tree(_marked(entry, nonce) for entry in task.hidden_for(group).values())
        pinned_files = list(dict.fromkeys(one.split("::")[0] for one in group.ids))
        before, after = _sentinels(hidden), _sentinels(hidden)
        sentinels = Sentinels(
            before.must_fail | after.must_fail,
            before.must_pass | after.must_pass,
            before.quiet | after.quiet,
            before.files.overlay(after.files),
        )
        order = (
            *_shuffled(before.must_fail | before.must_pass),
            *sorted(group.ids, key=lambda one: pinned_files.index(one.split("::")[0])),
            *_shuffled(after.must_fail | after.must_pass),
        )
        files = hidden.overlay(sentinels.files)
        folder = f"{top}/{number}"
        entries.extend(Entry(f"{folder}/{path}", entry.mode, entry.data) for path, entry in files.items())
        staged.append(StagedGroup(group, f"{GRADE}/{folder}", files, sentinels, order))
    return Staging(top, Tree(entries), tuple(staged))


def _marked(entry: Entry, nonce: str) -> Entry:
    return (
        Entry(entry.path, entry.mode, entry.data + f"\n# {nonce}\n".encode()) if entry.path.endswith(".py") else entry
    )


def _sentinels(beside: Tree) -> Sentinels:
    """One file of tests that must pass or must fail, by each means that hidden tests use, in random order.

    A test that tries every assertion of unittest, or every helper of pytest, comes to its failing end only if each of
    them failed as it must: one that was made to hold its peace lets the test pass.
    """
    path = next(name for name in iter(lambda: f"{_name()}.py", "") if name not in beside)
    low, high = 2 + secrets.randbelow(50), 60 + secrets.randbelow(50)
    good, bad, broken, helped, case_good, case_bad = _names(6)
    case = "Test" + case_good.removeprefix("test_").title().replace("_", "")
    tests = [
        f"def {good}():\n    assert max({low}, {high}) == {high}\n{_BUILTINS}",
        f"def {bad}():\n    assert max({low}, {high}) == {low}\n",
        f"def {broken}():\n    assert [{low}, {high}].index({low + high})\n",
        f"def {helped}():\n    low, high = {low}, {high}\n{_HELPERS}",
        f"class {case}(unittest.TestCase):\n"
        f"    def {case_good}(self):\n        self.assertEqual(max({low}, {high}), {high})\n\n"
        f"    def {case_bad}(self):\n        low, high = {low}, {high}\n{_ASSERTIONS}",
    ]
    text = _IMPORTS + "\n\n".join(_shuffled(tests))
    quiet = frozenset({f"{path}::{case}::{case_bad}"})
    return Sentinels(
        quiet | {f"{path}::{one}" for one in (bad, broken, helped)},
        frozenset({f"{path}::{good}", f"{path}::{case}::{case_good}"}),
        quiet,
        Tree([Entry(path, 0o644, text.encode())]),
    )


def _name() -> str:
    return "test_" + "_".join(_shuffled(_WORDS)[: 3 + secrets.randbelow(2)])


def _names(count: int) -> list[str]:
    names: set[str] = set()
    while len(names) < count:
        names.add(_name())
    return sorted(names)


def _shuffled(items: Sequence[str] | frozenset[str]) -> list[str]:
    return secrets.SystemRandom().sample(sorted(items), len(items))


def build_sessions_job(staging: Staging, seconds: float) -> bytes:
    """What the parent of the sessions reads. It does not say which tests are sentinels."""
    groups = [
        {
            "folder": one.folder,
            "files": [f"{one.folder}/{path}" for path in dict.fromkeys(test.split("::")[0] for test in one.order)],
            "order": list(one.order),
        }
        for one in staging.groups
    ]
    job = {
        "workspace": WORKSPACE,
        "ini": f"{GRADE}/{staging.top}/{INI}",
        "groups": groups,
        "seconds": seconds,
        "max_bytes": 4 << 20,
        "file_bytes": 64 << 20,
    }
    return json.dumps(job).encode()


def is_intact(staging: Staging, listed: bytes) -> bool:
    """Whether a listing made by ``inside/rehash.py`` is exactly what was staged: every path, mode, owner and hash."""
    expected = []
    folders: set[str] = set()
    for path, entry in staging.tree.items():
        below = path.removeprefix(staging.top + "/")
        expected.append([below, f"{stat.S_IFREG | entry.mode:o}", 0, entry.sha256.removeprefix("sha256:")])
        folders.update(str(folder) for folder in PurePosixPath(below).parents if str(folder) != ".")
    expected.extend([folder, f"{stat.S_IFDIR | 0o755:o}", 0, ""] for folder in folders)
    try:
        return bool(loads(listed) == sorted(expected))
    except ValueError:
        return False
