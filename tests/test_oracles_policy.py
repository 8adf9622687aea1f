"""The policy before grading: a few things refused by name, honest work never."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.oracles.policy import MAX_REPLACEMENT, Policy, examine
from harness.oracles.testconfig import UnreadableError, is_test_config, read_settings
from harness.outcomes import Rejection
from harness.suites.tree import LINK, REGULAR, Entry, Tree
from tests.oracle_rig import tree

PYPROJECT = """
[project]
name = "p"
dependencies = ["a"]

[tool.pytest.ini_options]
addopts = "-q"
testpaths = ["tests"]
"""

BASE = {
    "pkg/__init__.py": "",
    "pkg/core.py": "x = 1\n",
    "tests/test_core.py": "def test_a(): pass\n",
    "tests/conftest.py": "import pkg\n",
    "pyproject.toml": PYPROJECT,
    "setup.cfg": "[metadata]\nname = p\n\n[tool:pytest]\naddopts = -q\n    -x\n",
}


def change(changes: Mapping[str, str | None]) -> Policy:
    """What the policy says of the base tree with some files set, or (None) gone."""
    files = {**BASE, **changes}
    after = tree({path: text for path, text in files.items() if text is not None})
    return examine(tree(BASE), after, visible_tests=["tests/test_core.py"])


HONEST: dict[str, dict[str, str | None]] = {
    "nothing": {},
    "a dependency": {"pyproject.toml": PYPROJECT.replace('["a"]', '["a", "b>=2"]')},
    "another layout of the same settings": {
        "pyproject.toml": '# hi\n[tool.pytest.ini_options]\ntestpaths = [\n  "tests",\n]\naddopts="-q"\n[project]\n',
        "setup.cfg": "[tool:pytest]\n# why\naddopts =\n  -q\n  -x\n[metadata]\nname = q\n",
    },
    "a marker": {"pyproject.toml": PYPROJECT + 'markers = ["slow: takes long"]\n'},
    "a linter's settings": {"pyproject.toml": PYPROJECT + "[tool.ruff]\nline-length = 100\n"},
    "a new test file": {"tests/test_more.py": "def test_b(): pass\n"},
    "conftest.py in a new folder": {
        "tests/unit/conftest.py": "x = 1\n",
        "tests/unit/test_u.py": "def test_u(): pass\n",
    },
    "a renamed module": {"pkg/core.py": None, "pkg/engine.py": "x = 1\n"},
    "a deleted file": {"pkg/core.py": None},
    "a tox.ini of environments": {"tox.ini": "[tox]\nenvlist = py313\n[testenv]\ncommands = pytest -q\n"},
    "a setup.cfg with a broken other section": {"notes.cfg": "[[["},
    "words that only sound like it": {"pkg/sitecustomize_notes.md": "x", "docs/so.txt": "x", "pkg/soap.py": "x"},
}

REFUSED: dict[str, tuple[dict[str, str | None], Rejection, str]] = {
    "sitecustomize": ({"sitecustomize.py": "x"}, Rejection.INTERPRETER_HOOK, "sitecustomize.py"),
    "usercustomize, deep": ({"a/b/usercustomize.py": "x"}, Rejection.INTERPRETER_HOOK, "a/b/usercustomize.py"),
    "sitecustomize, a package": ({"sitecustomize/__init__.py": "x"}, Rejection.INTERPRETER_HOOK, "__init__"),
    "a path file": ({"pkg/x.pth": "import os"}, Rejection.INTERPRETER_HOOK, "pkg/x.pth"),
    "bytecode": ({"pkg/core.pyc": "x"}, Rejection.COMPILED_ARTIFACT, "pkg/core.pyc"),
    "a shared object": ({"pkg/core.cpython-313-x86_64-linux-gnu.so": "x"}, Rejection.COMPILED_ARTIFACT, "linux-gnu.so"),
    "a versioned shared object": ({"lib/libx.so.1.2": "x"}, Rejection.COMPILED_ARTIFACT, "libx.so.1.2"),
    "addopts": (
        {"pyproject.toml": PYPROJECT.replace('"-q"', '"-q -p evil"')}, Rejection.TEST_CONFIG_MODIFIED, "addopts",
    ),
    "the other table": ({"pyproject.toml": PYPROJECT + '[tool.pytest]\naddopts = ["-p", "evil"]\n'},
        Rejection.TEST_CONFIG_MODIFIED, "addopts"),
    "settings taken away": ({"pyproject.toml": "[project]\n"}, Rejection.TEST_CONFIG_MODIFIED, "testpaths"),
    "the file taken away": ({"setup.cfg": None}, Rejection.TEST_CONFIG_MODIFIED, "addopts"),
    "broken where settings were": ({"setup.cfg": "[tool:pytest\n"}, Rejection.TEST_CONFIG_MODIFIED, "parsed"),
    "an empty pytest.ini, which hides the others": ({"pytest.ini": ""}, Rejection.TEST_CONFIG_MODIFIED, "read from"),
    "an empty pytest.toml": ({"tests/pytest.toml": ""}, Rejection.TEST_CONFIG_MODIFIED, "read from"),
    "tox.ini": ({"tox.ini": "[pytest]\npython_files = none\n"}, Rejection.TEST_CONFIG_MODIFIED, "python_files"),
    "behind a form feed": (
        {"tox.ini": "[tox]\n# a comment\x0c[pytest]\x0caddopts = -p evil\n"}, Rejection.TEST_CONFIG_MODIFIED, "addopts",
    ),
}  # fmt: skip


@pytest.mark.parametrize("changes", HONEST.values(), ids=HONEST.keys())
def test_honest_work_is_neither_refused_nor_flagged(changes: dict[str, str | None]) -> None:
    assert change(changes) == Policy()


@pytest.mark.parametrize(("changes", "reason", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_by_name(changes: dict[str, str | None], reason: Rejection, words: str) -> None:
    said = change(changes)
    assert said.rejection is reason
    assert words in said.detail


def test_settings_that_no_group_reads_are_flagged_instead() -> None:
    after = tree({**BASE, "pytest.ini": "[pytest]\naddopts = -p evil\n"})
    assert examine(tree(BASE), after, settings_matter=False) == Policy(flags=("test_config_modified: pytest.ini",))


def test_a_link_in_the_place_of_settings_is_refused() -> None:
    after = Tree([*tree({"x": "[pytest]\naddopts = -p evil\n"}).values(), Entry("pytest.ini", LINK, b"x")])
    assert examine(Tree(), after).rejection is Rejection.TEST_CONFIG_MODIFIED


def test_what_was_there_before_is_no_ones_fault() -> None:
    old = tree({**BASE, "sitecustomize.py": "x", "a.so": "x", "pytest.ini": "[["})
    assert examine(old, old) == Policy()
    assert examine(old, tree(BASE)).rejection is None, "taking a hook away is no hook"
    assert examine(old, tree({**BASE, "sitecustomize.py": "x", "a.so": "x", "pytest.ini": "[[ "})).rejection is None


def test_visible_tests_and_their_conftests_come_back() -> None:
    said = change(
        {"tests/test_core.py": "", "tests/conftest.py": "evil", "conftest.py": "evil", "pkg/conftest.py": "x"}
    )
    assert said.rejection is None
    assert said.restore == ("conftest.py", "tests/conftest.py", "tests/test_core.py")
    assert said.flags == tuple(f"restored: {path}" for path in said.restore)


def test_new_modules_under_known_names_are_flagged() -> None:
    said = change({"json.py": "x", "random/__init__.py": "x", "json.txt": "x", "pkg/abc.py": "x"})
    assert said.flags == ("module_shadowing: json", "module_shadowing: random")


def test_a_new_module_under_the_runners_name_is_refused_where_it_would_be_run_instead() -> None:
    after = tree({**BASE, "pytest/__init__.py": "x", "pluggy.py": "x"})
    assert examine(tree(BASE), after).rejection is Rejection.MODULE_SHADOWING
    flags = ("module_shadowing: pluggy", "module_shadowing: pytest")
    assert examine(tree(BASE), after, settings_matter=False) == Policy(flags=flags)


def test_hostile_names_are_shown_cleaned() -> None:
    name = "a\u202e\x9b.pth"
    said = examine(Tree(), Tree([Entry(name, REGULAR, b"")]))
    assert said.rejection is Rejection.INTERPRETER_HOOK
    assert said.detail.isascii()


NAMES = st.sampled_from(["pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".pytest.toml", "a/pytest.toml"])


@given(NAMES, st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@example("pyproject.toml", b"x = " + b"[" * 5000)
@example("tox.ini", b"[pytest]\na = %(b)s\n")
@example("pyproject.toml", b"tool = 3")
@example("pyproject.toml", b"[tool]\npytest = 3")
def test_any_bytes_parse_or_are_unreadable(name: str, data: bytes) -> None:
    assert is_test_config(name)
    with contextlib.suppress(UnreadableError):
        read_settings(name, data)
    examine(Tree([Entry(name, REGULAR, b"")]), Tree([Entry(name, REGULAR, data)]))


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.from_regex(r"[a-z -]{0,8}", fullmatch=True)))
def test_comments_and_blank_lines_change_no_setting(settings: dict[str, str]) -> None:
    plain = "[pytest]\n" + "".join(f"{key} = {value}\n" for key, value in settings.items())
    airy = "# why\n\n[pytest]\n" + "".join(f"; note\n{key}={value}  \n" for key, value in settings.items())
    assert read_settings("tox.ini", plain.encode()) == read_settings("tox.ini", airy.encode())


def test_a_program_is_taken_out_where_the_solver_was_given_one():
    program = Entry("bin/tally", REGULAR, b"PK\7\x7fELF\2")
    after = tree(BASE).overlay(Tree([program]))
    assert examine(tree(BASE), after) == Policy()
    assert examine(tree(BASE), after, take_programs_out=True) == Policy(
        flags=("program_taken_out: bin/tally",), restore=("bin/tally",)
    )
    assert examine(after, after, take_programs_out=True) == Policy()


def test_a_program_that_is_packed_into_a_replacement_is_stopped_by_its_size():
    room = MAX_REPLACEMENT - len("reply.py")
    fits = tree(BASE).overlay(Tree([Entry("reply.py", REGULAR, b"#" * room)]))
    over = tree(BASE).overlay(Tree([Entry("reply.py", REGULAR, b"#" * (room + 1))]))
    assert examine(tree(BASE), fits, take_programs_out=True) == Policy()
    assert examine(tree(BASE), over) == Policy()
    assert examine(tree(BASE), over, take_programs_out=True).rejection is Rejection.TREE_TOO_LARGE


def test_a_conftest_beside_tests_that_are_laid_over_the_tree_is_named_and_stays():
    changed = [Entry("tests/conftest.py", REGULAR, b"import os"), Entry("docs/conftest.py", REGULAR, b"import os")]
    after = tree(BASE).overlay(Tree(changed))
    found = examine(tree(BASE), after, laid_tests=("tests/unit/test_x.py", "tests/unit/conftest.py"))
    assert found == Policy(flags=("conftest_changed: tests/conftest.py",))
