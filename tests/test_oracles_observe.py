"""What comes out of a grader is hostile text: parsed strictly, compared exactly, never a crash."""

from __future__ import annotations

import decimal
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.oracles.bundle import program
from harness.oracles.inside.values import Encoder, UnserialisableError, decode, names
from harness.oracles.observe import (
    GARBLED,
    PASSED,
    Observation,
    State,
    judge_item,
    parse_hostile,
    parse_observations,
)
from harness.oracles.sessions import parse_sessions
from harness.suites.oracles import CommandExpectation, Raised, Returned
from harness.suites.values import check_value, same_value

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**40), max_value=10**40)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=20)
    | st.decimals(allow_nan=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5).filter(lambda key: not key.startswith("$")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
@example(float("nan"))
@example((decimal.Decimal("-0.00"), -0.0, 2**53, -(2**53), True, 1))
def test_values_survive_the_way_out_and_back_in(value: object) -> None:
    spelled = Encoder().encode(value)
    assert check_value(spelled) == spelled, "the one spelling"
    back = decode(json.loads(json.dumps(spelled)))
    assert repr(back) == repr(value)
    assert same_value(spelled, Encoder().encode(back))


@given(VALUES, VALUES)
@example(True, 1)
@example(1, 1.0)
@example([1], (1,))
@example("1", 1)
@example(decimal.Decimal("1.0"), decimal.Decimal("1.00"))
def test_equal_means_the_same_type_and_content(one: object, other: object) -> None:
    same = same_value(Encoder().encode(one), Encoder().encode(other))
    if same:
        assert type(one) is type(other)
        assert one == other
    elif type(one) is type(other) and not isinstance(one, dict | list | tuple | decimal.Decimal | float):
        assert one != other


def test_key_order_does_not_count() -> None:
    assert same_value(Encoder().encode({"a": 1, "b": 2}), Encoder().encode({"b": 2, "a": 1}))


class AlwaysEqual:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


class Text(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class Number(int):
    pass


DEEP: list[Any] = []
for _ in range(70):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "value",
    [
        AlwaysEqual(), Text("x"), Number(1), [Text("x")], {"a": AlwaysEqual()}, {1: 2}, {Text("a"): 1}, {"$int": "1"},
        {1, 2}, 1j, object(), type, len, bytearray(b"x"), DEEP, "\ud800", {"\udfff": 1}, [0] * 300_000, 1 << 20_000,
    ],
    ids=range(19),
)  # fmt: skip
def test_what_is_no_plain_value_is_not_observed(value: object) -> None:
    with pytest.raises(UnserialisableError):
        Encoder().encode(value)


def test_an_exception_gives_the_names_of_its_classes() -> None:
    class OwnError(KeyError):
        pass

    assert names(OwnError()) == ["OwnError", "KeyError", "LookupError", "Exception", "BaseException", "object"]


@given(st.binary(max_size=300))
@example(b'[0,0,"answered"]\t' + b"[" * 100_000 + b"\nend\n")
@example(b'[0,0,"answered"]\t{"i":' + b"9" * 10_000 + b"}\nend\n")
@example(b'[0,0,"answered"]\t{"i":0,"i":0}\nend\n')
@example(b'[0,0,"answered"]\t{"i":true,"returned":1}\nend\n')
@example(b'[0,0,"answered"]\t{"i":0,"returned":NaN}\nend\n')
@example(b'[0,0,"answered"]\t\xff\nend\n')
def test_any_bytes_are_parsed_and_nothing_passes_by_chance(stdout: bytes) -> None:
    heard = parse_observations(stdout, [1, 2])
    for seen in heard.by_item.values():
        assert judge_item(Returned(value=1), seen) != PASSED
    sessions, _ = parse_sessions(stdout, 2)
    assert not any(session.phases for session in sessions)


def test_observations_are_taken_once_whole_and_in_their_place() -> None:
    good = b'[0,0,"answered"]\t{"i":0,"returned":1}\n'
    other = b'[0,1,"answered"]\t{"i":0,"returned":1}\n'
    heard = parse_observations(good + other + b"end\n", [2])
    assert (heard.complete, heard.strange) == (True, 0)
    assert judge_item(Returned(value=1), heard.by_item[0, 0]) == PASSED
    assert judge_item(Returned(value=1), heard.by_item[0, 1]) == GARBLED, "it spoke for another item"
    twice = parse_observations(good + good + b"end\n", [2])
    assert (twice.by_item, twice.strange) == ({}, 1)
    cut = parse_observations(good + other[:-5], [2])
    assert (cut.complete, list(cut.by_item)) == (False, [(0, 0)])
    assert parse_observations(b'[1,0,"died"]\t\n[0,5,"died"]\t\n[0,0,"well"]\t\nend\nend\n', [2]).strange == 4


CALLS = [
    (Returned(value=1), {"returned": 1}, PASSED),
    (Returned(value=None), {"returned": None}, PASSED),
    (Returned(value=1), {"returned": True}, "returned another value"),
    (Returned(value=1), {"returned": {"$float": "1.0"}}, "returned another value"),
    (Returned(value=1), {"raised": ["Evil\x1b[31m"]}, "raised an exception (of its own)"),
    (Returned(value=1), {"unserialisable": "\x1b"}, "returned something that is no plain value"),
    (Returned(value=1), {"returned": 1, "raised": []}, GARBLED),
    (Returned(value=1), {}, GARBLED),
    (Returned(value=1), {"status": 0}, GARBLED),
    (Raised(name="LookupError"), {"raised": ["KeyError", "LookupError", "Exception"]}, PASSED),
    (Raised(name="KeyError"), {"raised": ["LookupError", "Exception"]}, "raised another exception (LookupError)"),
    (Raised(name="KeyError"), {"returned": 1}, "returned where an exception was due"),
    (Raised(name="KeyError"), {"raised": "KeyError"}, GARBLED),
    (Raised(name="ImportError"), {"import": ["ImportError"]}, "the target could not be imported (ImportError)"),
    ((Returned(value=1),), {"steps": [{"returned": 1}]}, PASSED),
    ((Returned(value=1),), {"steps": [{"returned": 1}, {"returned": 1}]}, GARBLED),
    ((Returned(value=1),), {"steps": [7]}, "step 1 " + GARBLED),
    ((Returned(value=1),), {"init": ["TypeError"]}, "the instance could not be made (TypeError)"),
    (CommandExpectation(status=0), {"status": 0, "stdout": {"unreadable": "not_text"}, "files": {}}, PASSED),
    (CommandExpectation(status=1), {"status": True, "files": {}}, GARBLED),
    (CommandExpectation(status=0, stdout=""), {"status": 0, "files": {}}, "printed something else"),
    (CommandExpectation(status=0, files={"a": None}), {"status": 0, "files": {}}, GARBLED),
    (CommandExpectation(status=0, files={"a": None}), {"status": 0, "files": {"a": None}}, PASSED),
]


@pytest.mark.parametrize(("expected", "answer", "said"), CALLS)
def test_judging(expected: Any, answer: dict[str, Any], said: str) -> None:
    assert judge_item(expected, Observation(State.ANSWERED, answer)) == said
    for state in set(State) - {State.ANSWERED}:
        assert judge_item(expected, Observation(state)) != PASSED
    assert judge_item(expected, None) != PASSED


def test_hostile_json_is_none_at_worst() -> None:
    assert parse_hostile(b"[" * 300 + b"]" * 300) is None
    assert parse_hostile(b"9" * 5000) is None
    assert parse_hostile(b'{"a":1}') == {"a": 1}


def test_the_programs_are_one_text_of_the_standard_library() -> None:
    argv = program("values", "processes", "calls", "commands", "driver")
    assert "harness" not in argv[-1]
    assert "trialbox" not in argv[-1], "nothing inside tells who grades"
    job = {"workspace": "/", "groups": [], "item_seconds": 1, "seconds": 1, "max_bytes": 1}
    ran = subprocess.run([sys.executable, *argv[1:]], input=json.dumps(job).encode(), capture_output=True, check=True)
    assert ran.stdout == b"end\n"
