"""Mutants: always Python, always another program, always the same, and only in lines that the reference changed."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.suites.admission.mutants import CHOSEN, changed_lines, choose, mutants_of
from harness.suites.admission.operators import Operator, edits_of
from harness.suites.formats.common import EquivalentSpec
from harness.suites.tree import REGULAR, Entry, Tree

OURS = sorted((Path(__file__).parent.parent / "harness").rglob("*.py"))

NAMES = st.sampled_from(["a", "b", "total", "self.x", "rows[0]", "größe"])
NUMBERS = st.integers(-3, 300).map(str)
TEXTS = st.sampled_from(["''", "'x'", '"two words"', "b'raw'", "f'{a}:{b:>3}'", "'é' 'ü'", "'''long\ntext'''"])
LEAVES = NAMES | NUMBERS | TEXTS | st.sampled_from(["True", "False", "None", "1.5"])


def _joined(operators):
    return lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(operators), inner)


EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        _joined(["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"])(inner),
        _joined(["<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"])(inner),
        _joined(["and", "or"])(inner),
        st.builds("(not {})".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
        st.builds("({} and {} and {})".format, inner, inner, inner),
        st.builds("rows[{}:{}]".format, inner, inner),
        st.builds("rows[:{}]".format, inner),
        st.builds("list(range({}))".format, inner),
        st.builds("[one for one in rows if {}]".format, inner),
    ),
    max_leaves=8,
)
STATEMENTS = st.one_of(
    st.builds("total = {}".format, EXPRESSIONS),
    st.builds("total += {}".format, EXPRESSIONS),
    st.builds("self.x = {}".format, EXPRESSIONS),
    st.builds("return {}".format, EXPRESSIONS),
    st.builds("print({})".format, EXPRESSIONS),
    st.builds("if {}:\n    return {}".format, EXPRESSIONS, EXPRESSIONS),
    st.builds("while {}:\n    break".format, EXPRESSIONS),
    st.builds("try:\n    total = {}\nexcept ValueError:\n    raise".format, EXPRESSIONS),
    st.builds("raise ValueError({})".format, EXPRESSIONS),
    st.builds("rows.append(\n    {},  # a < b, said a comment\n)".format, EXPRESSIONS),
)
FUNCTIONS = st.builds(
    lambda body, default: f"def f(self, rows, a, b={default}):\n" + textwrap.indent("\n".join(body), "    ") + "\n",
    st.lists(STATEMENTS, min_size=1, max_size=5),
    LEAVES,
)


def is_python(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(FUNCTIONS)
def test_every_mutant_of_any_function_parses_and_differs(text):
    source = text.encode()
    if not is_python(source):
        return
    made = [edit.apply(source) for edit in edits_of(source)]
    dumped = [ast.dump(ast.parse(one)) for one in made]
    assert ast.dump(ast.parse(source)) not in dumped
    assert len(set(dumped)) == len(dumped)
    assert made == [edit.apply(source) for edit in edits_of(source)]


@pytest.mark.parametrize("path", OURS[::12], ids=lambda path: path.stem)
def test_every_mutant_of_real_modules_parses_and_differs(path):
    source = path.read_bytes()
    original = ast.dump(ast.parse(source))
    for edit in edits_of(source):
        assert ast.dump(ast.parse(edit.apply(source))) != original


ONE_OF_EACH = b"""
def f(rows, least=2, *, strict=False):
    found = []
    for row in range(1, len(rows) - 1):
        if row >= least and not strict:
            found.append(rows[row:])
    try:
        found += rows[0].parts("key")
    except KeyError:
        return None
    return found
"""


def test_every_operator_finds_something():
    assert {edit.operator for edit in edits_of(ONE_OF_EACH)} == set(Operator)


@pytest.mark.parametrize(
    "quiet",
    [
        '"""What it is: 1 < 2."""',
        "import os",
        "__all__ = ['f']",
        "def f(a: int | 'str') -> 'list[3]': ...",
        "@cache(size=3)\ndef f(): ...",
        "if __name__ == '__main__':\n    main(1)",
        "log.warning('%d rows', 3)",
        "print('x', file=sys.stderr)",
        "parser.add_argument(help='seconds')",
    ],
)
def test_what_no_prompt_states_is_left_alone(quiet):
    kinds = {edit.operator for edit in edits_of(quiet.encode())}
    assert kinds <= {Operator.REMOVED}


def test_messages_of_exceptions_are_left_alone_but_the_exception_is_not():
    source = b"def f(x):\n    if x < 0:\n        raise ValueError(f'{x} is below 0')\n"
    lines = {edit.apply(source).decode() for edit in edits_of(source)}
    assert "def f(x):\n    if x < 0:\n        pass\n" in lines
    assert all("is below 0" in line or "pass" in line for line in lines)


def test_a_file_that_is_no_python_has_none():
    assert list(edits_of(b"def f(:\n")) == []


def tree(**files: str) -> Tree:
    return Tree(Entry(f"{name}.py", REGULAR, text.encode()) for name, text in files.items())


BEFORE = tree(a="def f(x):\n    y = x + 1\n    return y\n", b="z = 1 + 1\n")
AFTER = BEFORE.overlay(tree(a="def f(x):\n    y = x + 1\n    if y > 9:\n        y = 9\n    return y * 2\n"))


def test_only_changed_lines_have_mutants():
    found = mutants_of(BEFORE, AFTER)
    assert {(one.path, one.line) for one in found} == {("a.py", 3), ("a.py", 4), ("a.py", 5)}
    assert changed_lines(BEFORE["a.py"].data, AFTER["a.py"].data) == {3, 4, 5}
    assert mutants_of(AFTER, AFTER) == ()


def test_a_mutant_is_one_line_of_the_reference_changed():
    for one in mutants_of(BEFORE, AFTER):
        changed = one.apply(AFTER)
        lines = changed["a.py"].data.decode().splitlines()
        assert (
            lines[one.line - 1].strip()
            == one.now
            != one.was
            == AFTER["a.py"].data.decode().splitlines()[one.line - 1].strip()
        )
        assert {path for path in AFTER if changed[path] != AFTER[path]} == {"a.py"}


def test_ids_are_stable_unless_the_line_changes():
    again = BEFORE.overlay(tree(a="def f(x):\n    y = x + 1\n    if y > 9:\n        y = 9\n    return y * 3\n"))
    first, second = ({one.id for one in mutants_of(BEFORE, after)} for after in (AFTER, again))
    assert {one for one in first if not one.startswith("a.py:5:")} <= second
    assert not any(one.startswith("a.py:5:") for one in first & second)


def test_the_choice_covers_lines_and_replaces_what_is_recorded():
    wide = tree(a="\n".join(f"v{n} = {n} + {n + 1} * {n + 2}" for n in range(20)))
    found = mutants_of(Tree(), wide)
    first = choose(found, ())
    assert len(first) == CHOSEN
    assert len({one.line for one in first}) == CHOSEN
    assert first == choose(reversed(found), ())
    spec = EquivalentSpec(mutant=first[0].id, change=first[0].now, reason="r")
    second = choose(found, (spec,))
    assert first[0] not in second
    assert second[: CHOSEN - 1] == first[1:]
