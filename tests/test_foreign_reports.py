"""Reading reports, rewards and lists of tests: hostile text in, one status for each name out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from harness.oracles.reports import (
    Status,
    look_up,
    parse_in_tree,
    parse_report,
    parse_reward,
    passes,
)
from harness.suites.foreign.rows import TestNames
from harness.suites.groups import GroupKind, ReportFormat

NAMES: TypeAdapter[tuple[str, ...]] = TypeAdapter(TestNames)
tests_names = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20), min_size=1)


@given(tests_names)
def test_a_list_of_tests_reads_the_same_in_all_three_spellings(names: list[str]) -> None:
    spelled = [names, json.dumps(names), repr(names)]
    assert {NAMES.validate_python(one) for one in spelled} == {tuple(names)}


@pytest.mark.parametrize("value", ["[", "__import__('os')", '{"a": 1}', "3", 3, None, {"a": 1}, "[1", "(" * 5000])
def test_what_is_no_list_of_tests_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match=r"list of test names"):
        NAMES.validate_python(value)


def test_pytest_summaries_and_verbose_lines() -> None:
    text = (
        b"tests/a.py::test_v PASSED      [ 10%]\n\x1b[32mPASSED\x1b[0m tests/a.py::test_one[a b]\n"
        b"FAILED tests/a.py::test_two - assert 1 == 2\nERROR tests/a.py::test_three - boom\n"
        b"SKIPPED [1] tests/a.py:3: no\nXFAIL tests/a.py::test_four\nXPASS tests/a.py::test_five\n"
        b"PASSED tests/a.py::test_two_again\n============ 2 passed ============\n"
    )
    said = parse_report(ReportFormat.PYTEST, text)
    assert {name.rpartition("::")[2]: one.value for name, one in said.items() if "::" in name} == {
        "test_v": "passed",
        "test_one[a b]": "passed",
        "test_two": "failed",
        "test_three": "failed",
        "test_four": "xfail",
        "test_two_again": "passed",
    }
    assert look_up(said, ["tests/a.py::test_one[a", "tests/a.py::test_five"]) == {
        "tests/a.py::test_one[a": Status.PASSED,
        "tests/a.py::test_five": None,
    }


def test_between_the_markers_alone_if_there_are_any() -> None:
    text = b"PASSED a.py::x\n+ : '>>>>> Start Test Output'\nFAILED a.py::x\n>>>>> End Test Output\nPASSED a.py::x\n"
    assert parse_report(ReportFormat.PYTEST, text) == {"a.py::x": Status.FAILED}


def test_unittest_and_sympy_lines() -> None:
    text = b"test_a (m.C) ... ok\ntest_b (m.C) ... FAIL\ntest_c (m.C) ... skipped 'no'\n"
    text += b"test_d (m.C) ... expected failure\n"
    said = parse_report(ReportFormat.UNITTEST, text + b"ERROR: test_a (m.C)\n")
    assert [one.value for one in said.values()] == ["failed", "failed", "skipped", "xfail"]
    sympy = parse_report(ReportFormat.SYMPY, b"test_x ok\ntest_y F\ntest_z f\ntest_s s\n")
    assert [one.value for one in sympy.values()] == ["passed", "failed", "xfail", "skipped"]


@pytest.mark.parametrize("form", list(ReportFormat))
@given(text=st.binary(max_size=300))
def test_no_text_breaks_a_parser(form: ReportFormat, text: bytes) -> None:
    assert all(isinstance(one, Status) for one in parse_report(form, text).values())
    parse_in_tree(text)
    parse_reward(text, as_json=True)
    parse_reward(text, as_json=False)


def phase(test: str, when: str, outcome: str, *, xfail: bool = False) -> bytes:
    return json.dumps({"e": "phase", "id": test, "when": when, "outcome": outcome, "xfail": xfail}).encode()


def test_phases_of_pytest_make_a_status() -> None:
    passed = [phase("a", when, "passed") for when in ("setup", "call", "teardown")]
    torn = [phase("b", "setup", "passed"), phase("b", "call", "passed"), phase("b", "teardown", "failed")]
    skipped = [phase("c", "setup", "skipped"), phase("c", "teardown", "passed")]
    xfail = [phase("d", "setup", "passed"), phase("d", "call", "skipped", xfail=True), phase("d", "teardown", "passed")]
    xpass = [phase("e", "setup", "passed"), phase("e", "call", "passed", xfail=True), phase("e", "teardown", "passed")]
    cut = [phase("f", "setup", "passed")]
    lines = [*passed, *torn, *skipped, *xfail, *xpass, *cut, b'{"e":"uncollected","id":"x.py"}', b"noise", b"end\n"]
    said, uncollected, complete = parse_in_tree(b"\n".join(lines))
    assert {name: one.value for name, one in said.items()} == {
        "a": "passed",
        "b": "failed",
        "c": "skipped",
        "d": "xfail",
    }
    assert (uncollected, complete) == (1, True)
    assert parse_in_tree(passed[0] + b"\nend\n")[0] == {}


def test_swe_benchs_rules_of_passing() -> None:
    behaviour = [passes(one, GroupKind.BEHAVIOUR) for one in (*Status, None)]
    regression = [passes(one, GroupKind.REGRESSION) for one in (*Status, None)]
    assert behaviour == [True, True, False, False, False]
    assert regression == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("text", "as_json", "value"),
    [
        (b"1", False, {"reward": 1.0}),
        (b" 0.5\n", False, {"reward": 0.5}),
        (b'{"a": 1, "b": 0.25}', True, {"a": 1.0, "b": 0.25}),
        (b"1.0", True, {"reward": 1.0}),
        (b"", False, None),
        (b"nan", False, None),
        (b"inf", False, None),
        (b"yes", False, None),
        (b"{}", True, None),
        (b'{"a": "1"}', True, None),
        (b'{"a": true}', True, None),
        (b'{"a": NaN}', True, None),
        (b"[1]", True, None),
    ],
)
def test_rewards(text: bytes, as_json: bool, value: dict[str, float] | None) -> None:
    assert parse_reward(text, as_json=as_json) == value
