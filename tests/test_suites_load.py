"""Loading: what is right loads, and whatever is wrong is one line that names file, key and remedy."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from pydantic import TypeAdapter

from harness.errors import UserError
from harness.suites.formats.common import OracleVisibility
from harness.suites.groups import ExitStatusGroup, Trust
from harness.suites.load import find_suites, load_suite, load_task
from harness.suites.models import AnyTask, SuiteSpec
from harness.suites.oracles import CasesOracle, CommandsOracle
from harness.suites.parse import parse_json
from harness.suites.schema import WORDS
from tests.suites_rig import EXPOSURE, PUBLIC, edit, write, write_joule_task, write_repo_task, write_suite


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_repo_task(tmp_path / "adder")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "little")


def message(action: Callable[[], object]) -> str:
    with pytest.raises(UserError) as caught:
        action()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_repo_task_loads(task: Path) -> None:
    loaded = load_task(task)
    assert loaded.prompt == "Mend add.\n"
    assert list(loaded.before) == ["a.py", "tests/test_a.py"]
    assert loaded.reference.tree["a.py"].data.endswith(b"x + y\n")
    assert loaded.reference.tree["tests/test_a.py"] == loaded.before["tests/test_a.py"]
    assert [one.name for one in loaded.wrong] == ["off-by-two"]
    assert loaded.oracles.keys() == {"adds"}
    assert list(loaded.hidden_for(loaded.groups[1])) == ["test_plain.py"]
    assert loaded.trust is Trust.IN_PROCESS
    assert loaded.oracle_visibility is OracleVisibility.HIDDEN
    assert loaded.canaries == (PUBLIC, EXPOSURE)


def test_a_plain_joule_task_loads_unchanged(tmp_path: Path) -> None:
    loaded = load_task(write_joule_task(tmp_path / "adder"))
    assert loaded.prompt == "Make the tests pass."
    assert loaded.groups == (ExitStatusGroup(argv=("sh", "-c", "python3 -m pytest -q tests")),)
    assert loaded.visible_tests == ("tests/test_a.py",)
    assert loaded.oracle_visibility is OracleVisibility.OPEN
    assert loaded.trust is Trust.EXIT_STATUS
    assert loaded.spec.provenance is None


def test_a_joule_test_cmd_may_be_words(tmp_path: Path) -> None:
    folder = write_joule_task(tmp_path / "adder")
    edit(folder / "task.toml", '"python3 -m pytest -q tests"', '["python3", "-m", "pytest"]')
    assert load_task(folder).groups == (ExitStatusGroup(argv=("python3", "-m", "pytest")),)


def test_deletions_are_part_of_a_candidate(task: Path) -> None:
    write(task, {"before/old.py": "x = 1\n"})
    edit(task / "task.toml", "[[wrong]]", '[reference]\ndelete = ["old.py"]\n\n[[wrong]]')
    loaded = load_task(task)
    assert "old.py" not in loaded.reference.tree
    assert "old.py" in loaded.wrong[0].tree


TOML_MISTAKES = {
    "unknown key": (
        'title = "A title"',
        'title = "A title"\ntitel = 1',
        "titel: is an unknown key; expected one of: schema",
    ),
    "unknown limit": (
        "[canary]",
        "[limits]\nwal_s = 1\n[canary]",
        "limits.wal_s: is an unknown key; expected one of: wall_s",
    ),
    "unknown group key": (
        'oracle = "cases"',
        'oracle = "cases"\nfil = 1',
        "groups[0].fil: is an unknown key; expected one of: name",
    ),
    "schema is true": ("schema = 1", "schema = true", "task.toml: schema: should be 1, got True"),
    "schema is a float": ("schema = 1", "schema = 1.0", "task.toml: schema: should be 1, got 1.0"),
    "no ids": ('["test_plain.py::test_zero"]', "[]", "groups[1].ids: should have at least 1 item, got []"),
    "missing title": ('title = "A title"', "", "title: this key is missing; expected one line of text"),
    "bad kind": (
        '"behaviour"',
        '"behavior"',
        "groups[0].kind: input should be 'behaviour' or 'regression', got 'behavior'",
    ),
    "bad oracle": (
        '"cases"',
        '"case"',
        "groups[0].oracle: should be one of 'cases', 'operations', 'commands', 'pytest'",
    ),
    "bad format": ('"repo"', '"rep"', "format: should be one of 'repo', "),
    "bad type": (
        "[canary]",
        '[limits]\nwall_s = "60"\n[canary]',
        "limits.wall_s: input should be a valid integer, got '60'",
    ),
    "bad date": ("2026-11-30", '"soon"', "provenance.created: input should be a valid date"),
    "bad path": ('"hidden/adds.json"', '"hidden/../x"', "groups[0].file: path 'hidden/../x' should be relative"),
    "hidden file elsewhere": (
        '"hidden/adds.json"',
        '"adds.json"',
        "groups[0].file: string should match pattern '^hidden/.', got 'adds.json'; expected a path such as hidden/",
    ),
    "bad canary": (PUBLIC, "x", "canary.public: string should match"),
    "not TOML": ("schema = 1", "schema = ", "is not TOML: Invalid value (at line 2"),
    "thousands of digits": ("schema = 1", f"schema = {'9' * 5000}", "is not TOML: Exceeds the limit"),
    "thousands of brackets": ("schema = 1", f"schema = {'[' * 5000}", "is not TOML: maximum recursion depth"),
    "duplicate group": ('name = "plain"', 'name = "adds"', "two groups are named 'adds'"),
    "no regression group": ('kind = "regression"', 'kind = "behaviour"', "groups holds no regression group"),
    "id outside files": (
        '"test_plain.py::test_zero"',
        '"test_b.py::test_zero"',
        "id 'test_b.py::test_zero' is not in files",
    ),
    "id not defined": ("::test_zero", "::test_one", "no test 'test_plain.py::test_one' is defined"),
    "id pinned twice": ('::test_zero"]', '::test_zero", "test_plain.py::test_zero"]', "ids names something twice"),
    "upstream without table": ('"hand"', '"upstream"', "provenance: author_kind 'upstream' and a table"),
    "volumes over memory": (
        "[canary]",
        "[limits]\nmemory_mb = 256\n[canary]",
        "limits.memory_mb: 256 MB can't hold the volumes",
    ),
    "no such visible test": ('["tests/test_a.py"]', '["tests/test_b.py"]', "'tests/test_b.py' is not in before/"),
    "wrong without why": ('why = "adds two"', "", "wrong[0].why: this key is missing; expected one line of text"),
    "group without kind": (
        'kind = "behaviour"\n',
        "",
        "groups[0].kind: this key is missing; expected one of: beh",
    ),
    "group without oracle": (
        'oracle = "cases"',
        "",
        "groups[0].oracle: this key is missing; expected one of: cases",
    ),
    "no files": ('files = ["hidden/test_plain.py"]\n', "", "files: this key is missing; expected a list of text"),
    "no date": ("created = 2026-11-30\n", "", "provenance.created: this key is missing; expected a date such as"),
    "delete of nothing": ("[[wrong]]", '[reference]\ndelete = ["no.py"]\n[[wrong]]', "no.py is not a file of the tree"),
    "prompt missing": ("schema = 1", 'schema = 1\nprompt = "no.md"', "no.md: is missing"),
}


@pytest.mark.parametrize(("old", "new", "expected"), TOML_MISTAKES.values(), ids=TOML_MISTAKES.keys())
def test_a_mistake_in_task_toml_is_one_line(task: Path, old: str, new: str, expected: str) -> None:
    edit(task / "task.toml", old, new)
    text = message(lambda: load_task(task))
    assert expected in text
    assert str(task) in text


FILE_MISTAKES = {
    "no canary in a test": ({"hidden/test_plain.py": "def test_zero(): pass\n"}, "does not hold the exposure canary"),
    "another canary in an oracle": (
        {"hidden/adds.json": '{"canary":"x","target":"a:b","cases":[{"expect":1}]}'},
        "canary",
    ),
    "canary in before": ({"before/b.py": f"# {EXPOSURE}\n"}, "before/b.py: holds a canary"),
    "public canary in the prompt": ({"issue.md": PUBLIC}, "the prompt: holds a canary"),
    "canary in a candidate": ({"wrong/off-by-two/a.py": f"# {PUBLIC}\n"}, "wrong/off-by-two/a.py: holds a canary"),
    "a follow-up that nothing names": (
        {"follow_up/issue.md": "Later."},
        "follow_up: is there, though task.toml has no [follow_up]",
    ),
    "a byte order mark": ({"task.toml": "\ufeffschema = 1\n"}, "task.toml: begins with a byte order mark; save it as"),
    "unused hidden file": ({"hidden/more.txt": EXPOSURE}, "more.txt: is used by no group"),
    "unknown part": ({"notes.txt": "x"}, "notes.txt: is no part of a task"),
    "empty prompt": ({"issue.md": " \n"}, "issue.md: is empty"),
    "wrong is before": ({"wrong/off-by-two/a.py": "def add(x, y):\n    return x - y\n"}, "leaves before/ as it is"),
    "wrong is reference": (
        {"wrong/off-by-two/a.py": "def add(x, y):\n    return x + y\n"},
        "is identical to the reference",
    ),
    "reference is before": ({"reference/a.py": "def add(x, y):\n    return x - y\n"}, "leaves before/ as it is"),
    "reference edits a test": ({"reference/tests/test_a.py": "x = 1\n"}, "the reference changes a visible test"),
    "unlisted candidate": ({"wrong/other/a.py": "x = 1\n"}, "wrong/other: has no [[wrong]] entry"),
    "file over a folder": ({"wrong/off-by-two/a.py/b": ""}, "is both a file and a folder"),
    "a git store": ({"before/.git/config": ""}, ".git: a task's tree holds no git store"),
    "unpinned test": (
        {"hidden/test_plain.py": f"# {EXPOSURE}\ndef test_zero(): pass\ndef test_b(): pass\n"},
        "is not pinned",
    ),
    "hidden is not Python": ({"hidden/test_plain.py": f"# {EXPOSURE}\ndef\n"}, "is not Python"),
    "oracle is not JSON": ({"hidden/adds.json": '{"canary": 1, "canary": 2}'}, "is not JSON: duplicate key 'canary'"),
    "a float in an oracle": (
        {"hidden/adds.json": f'{{"canary":"{EXPOSURE}","target":"a:b","cases":[{{"args":[0.5],"expect":1}}]}}'},
        'cases[0].args[0]: a float is spelled {"$float": "0.5"}',
    ),
    "neither expect nor raises": (
        {"hidden/adds.json": f'{{"canary":"{EXPOSURE}","target":"a:b","cases":[{{"args":[]}}]}}'},
        "cases[0]: needs exactly one of expect and raises",
    ),
    "no cases": (
        {"hidden/adds.json": f'{{"canary":"{EXPOSURE}","target":"a:b","cases":[]}}'},
        "cases: should have at least 1 item, got []",
    ),
    "workspace too small": ({"before/big.txt": "x" * (257 * 1024**2)}, "don't fit into the workspace"),
}


@pytest.mark.parametrize(("files", "expected"), FILE_MISTAKES.values(), ids=FILE_MISTAKES.keys())
def test_a_mistake_in_a_folder_is_one_line(task: Path, files: dict[str, str], expected: str) -> None:
    for name in files:
        if (task / name).parent.is_file():
            (task / name).parent.unlink()
    if "before/big.txt" in files:
        edit(task / "task.toml", "[canary]", "[limits]\nworkspace_mb = 1\n[canary]")
        files = {"before/big.txt": "x" * (1024**2 + 1)}
    write(task, files)
    text = message(lambda: load_task(task))
    assert expected in text
    assert str(task) in text


@pytest.mark.parametrize(
    "part", ["before", "reference", "hidden", "issue.md", "hidden/adds.json", "task.toml", "wrong"]
)
def test_a_missing_part_is_one_line(task: Path, part: str) -> None:
    place = task / part
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert str(place) in message(lambda: load_task(task))


def test_two_groups_may_share_a_file(task: Path) -> None:
    text = f"# {EXPOSURE}\ndef test_zero(): pass\nclass TestMore:\n    def test_one(self): pass\n"
    write(task, {"hidden/test_plain.py": text})
    group = '[[groups]]\nname = "more"\nkind = "behaviour"\noracle = "pytest"\nfiles = ["hidden/test_plain.py"]\n'
    edit(task / "task.toml", "[[groups]]", f'{group}ids = ["test_plain.py::TestMore::test_one"]\n\n[[groups]]')
    assert [one.name for one in load_task(task).groups] == ["more", "adds", "plain"]


def test_an_id_may_name_whatever_pytest_collects(task: Path) -> None:
    """Classes of unittest have any name, classes may stand in classes, and tests may be inherited."""
    tests = """
        from unittest import IsolatedAsyncioTestCase, TestCase
        class Shared:
            def test_shared(self): pass
        class PlainTests(Shared, TestCase):
            def test_one(self): pass
        class Later(IsolatedAsyncioTestCase):
            async def test_two(self): pass
        class TestOuter:
            class TestInner(Shared):
                def test_three(self): pass
        """
    collected = ["PlainTests::test_shared", "PlainTests::test_one", "Later::test_two"]
    collected += ["TestOuter::TestInner::test_shared", "TestOuter::TestInner::test_three"]
    write(task, {"hidden/test_plain.py": f"# {EXPOSURE}\n{dedent(tests)}"})
    for left_out in (None, *collected):
        ids = [f"test_plain.py::{one}" for one in collected if one != left_out]
        text = (task / "task.toml").read_text()
        (task / "task.toml").write_text(re.sub(r"ids = .*", f"ids = {json.dumps(ids)}", text))
        if left_out is None:
            load_task(task)
        else:
            assert f"test 'test_plain.py::{left_out}' is not pinned" in message(lambda: load_task(task))


@pytest.mark.parametrize(
    ("files", "expect", "expected"),
    [
        ({"a": "1", "a/b": "2"}, {"status": 0}, "files has 'a/b', inside of what is itself a file there"),
        ({}, {"status": 0, "files": {"a/b/c": "", "a": ""}}, "expect.files has 'a/b/c', inside of what"),
        ({"a/b": "1", "a/c": "2"}, {"status": 0, "files": {"a": None, "a/b": "1"}}, None),
    ],
)
def test_a_commands_files_can_be_laid_out(files: object, expect: object, expected: str | None) -> None:
    text = json.dumps({"canary": "x", "commands": [{"argv": ["true"], "files": files, "expect": expect}]}).encode()
    if expected is None:
        parse_json(CommandsOracle, text, "c.json")
    else:
        assert expected in message(lambda: parse_json(CommandsOracle, text, "c.json"))


def test_an_unreadable_file_is_one_line(task: Path) -> None:
    (task / "issue.md").unlink()
    (task / "issue.md").mkdir()
    assert "issue.md: is not a regular file" in message(lambda: load_task(task))


def test_a_text_in_another_encoding_is_one_line(task: Path) -> None:
    (task / "issue.md").write_bytes(b"\xff\xfe")
    assert "issue.md: is not UTF-8" in message(lambda: load_task(task))


def test_special_files_and_escaping_links_are_refused(task: Path) -> None:
    os.mkfifo(task / "before" / "pipe")
    assert "pipe: is neither a file, a folder nor a link" in message(lambda: load_task(task))
    (task / "before" / "pipe").unlink()
    (task / "before" / "out").symlink_to("../issue.md")
    assert "out: is a link that may leave the tree" in message(lambda: load_task(task))


def test_a_joule_task_hides_nothing(tmp_path: Path) -> None:
    folder = write_joule_task(tmp_path / "adder")
    write(folder, {"hidden/x": ""})
    assert "a joule task is graded by test_cmd alone" in message(lambda: load_task(folder))


def test_a_badly_named_task_is_refused(tmp_path: Path) -> None:
    assert "a task's folder name is its id" in message(lambda: load_task(write_repo_task(tmp_path / "Bad_name")))


def test_suites_are_found_and_loaded(suite: Path) -> None:
    assert find_suites(suite.parent) == {"little": suite}
    loaded = load_suite(suite)
    assert [one.id for one in loaded.tasks] == ["adder", "plain-adder"]
    assert loaded.errors == ()
    assert loaded.task("adder") is loaded.tasks[0]
    assert "its tasks are: adder, plain-adder" in message(lambda: loaded.task("nope"))


def test_an_earlier_version_keeps_its_own_folder(suite: Path) -> None:
    kept = suite.rename(suite.parent / "little@1.0.0")
    assert load_suite(kept).version == "1.0.0"
    other = kept.rename(suite.parent / "little@2.0.0")
    assert "name: 'little' is not the folder's name" in message(lambda: load_suite(other))


def test_no_suites_are_one_line(tmp_path: Path) -> None:
    assert "holds no suite" in message(lambda: find_suites(tmp_path))
    assert "can't be read" in message(lambda: find_suites(tmp_path / "nowhere"))
    assert "suite.toml: is missing" in message(lambda: load_suite(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('tasks = ["adder", "plain-adder"]', "tasks = []", "tasks: should have at least 1 item, got []"),
        ('"plain-adder"]', '"adder"]', "two tasks are named 'adder'"),
        (', "plain-adder"', "", "'plain-adder' is not listed"),
        ('"plain-adder"]', '"plain-adder", "more"]', "more: there is no such task folder"),
        ('"1.0.0"', '"1.0"', "got '1.0'; expected three numbers such as 1.0.0"),
        ('"plain-adder"]', '"Plain"]', "got 'Plain'; expected lowercase words joined by hyphens"),
        ('name = "little"', "", "name: this key is missing; expected lowercase words joined by hyphens"),
        ('"For tests."', '"For tests."\nowner = 1', "owner: is an unknown key"),
    ],
)
def test_a_mistake_in_suite_toml_is_one_line(suite: Path, old: str, new: str, expected: str) -> None:
    edit(suite / "suite.toml", old, new)
    assert expected in message(lambda: load_suite(suite))


def test_each_pattern_that_is_put_into_words_is_one_of_the_models() -> None:
    kinds: tuple[Any, ...] = (AnyTask, SuiteSpec, CasesOracle)
    told = json.dumps([TypeAdapter(kind).json_schema() for kind in kinds])
    untold = [pattern for pattern in WORDS if json.dumps(pattern) not in told]
    assert untold == ["^hidden/."], "which stands behind a validator, where no schema shows it"


def test_keep_going_loads_the_good_and_lists_the_bad(suite: Path) -> None:
    (suite / "adder" / "issue.md").unlink()
    loaded = load_suite(suite, keep_going=True)
    assert [one.id for one in loaded.tasks] == ["plain-adder"]
    assert [str(error) for error in loaded.errors] == [message(lambda: load_suite(suite))]
