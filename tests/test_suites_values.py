"""Values have one spelling each, and inputs never hold what is expected."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, TypeAdapter, ValidationError

from harness.errors import UserError
from harness.suites.oracles import (
    CasesOracle,
    CommandsOracle,
    OperationsOracle,
    Raised,
    Returned,
    inputs_and_expectations,
)
from harness.suites.parse import parse_json
from harness.suites.values import MAX_DEPTH, check_value, same_value

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.text(max_size=8),
    st.floats(allow_nan=False).map(lambda number: {"$float": repr(number)}),
    st.integers(2**53, 2**80).map(lambda number: {"$int": str(number)}),
    st.decimals(allow_nan=False).map(lambda number: {"$decimal": str(number)}),
    st.binary(max_size=8).map(lambda data: {"$bytes": data.hex()}),
)
KEYS = st.text(max_size=4).filter(lambda key: not key.startswith("$"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(lambda items: {"$tuple": items}),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES)
def test_a_value_equals_itself_whatever_its_key_order(value: JsonValue) -> None:
    assert check_value(value) == value
    assert same_value(value, _reversed(value))


@given(VALUES, VALUES)
def test_equality_is_that_of_the_json_texts(one: JsonValue, other: JsonValue) -> None:
    assert same_value(one, other) == (json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True))


def _reversed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _reversed(item) for key, item in reversed(value.items())}
    return [_reversed(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("expected", "observed"),
    [
        (1, True),
        (0, False),
        (1, "1"),
        (1, {"$float": "1.0"}),
        ([1], {"$tuple": [1]}),
        ({"$decimal": "1.2"}, {"$decimal": "1.20"}),
        ("", None),
        ({}, []),
        ({"a": 1}, {"a": 1, "b": None}),
        ("\u00e9", "e\u0301"),
    ],
)
def test_what_differs(expected: JsonValue, observed: JsonValue) -> None:
    assert not same_value(expected, observed)
    assert not same_value(observed, expected)


@pytest.mark.parametrize(
    "bad",
    [
        0.5,
        2**53,
        {"$int": "5"},
        {"$int": "09007199254740993"},
        {"$float": "0.10"},
        {"$float": "x"},
        {"$decimal": "one"},
        {"$bytes": "0F"},
        {"$bytes": "abc"},
        {"$tuple": 1},
        {"$set": []},
        {"$float": "0.1", "a": 1},
        {"$tuple": [0.5]},
    ],
)
def test_other_spellings_are_refused_and_equal_nothing(bad: JsonValue) -> None:
    with pytest.raises(ValueError):
        check_value(bad)
    assert not same_value(bad, bad)


def test_hostile_observations_equal_nothing() -> None:
    deep: JsonValue = 1
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    assert not same_value(deep, deep)
    assert not same_value("a", "\ud800")
    assert not same_value({"$int": "9" * 5000}, {"$int": "9" * 5000})


SECRETS = ("secret-return", "SecretError", "secret-step", "secret-stdout", "secret-file")

CASES: dict[str, Any] = {
    "canary": "c",
    "target": "p.m:f",
    "cases": [
        {"args": [1], "kwargs": {"k": [2]}, "expect": {"x": SECRETS[0]}},
        {"raises": SECRETS[1]},
        {"expect": None},
    ],
}
OPERATIONS: dict[str, Any] = {
    "canary": "c",
    "target": "p:C",
    "scenarios": [
        {"init": {"args": [3]}, "steps": [{"call": "put", "args": ["a"], "expect": SECRETS[2]}]},
        {"steps": [{"call": "__len__", "expect": 0}, {"call": "get", "raises": SECRETS[1]}]},
    ],
}
COMMANDS: dict[str, Any] = {
    "canary": "c",
    "commands": [
        {
            "argv": ["python3", "-m", "p"],
            "stdin": "in",
            "files": {"in/a.csv": "text"},
            "expect": {"status": 77, "stdout": SECRETS[3], "files": {"out.csv": SECRETS[4], "no.csv": None}},
        },
        {"argv": ["true"], "expect": {"status": 0}},
    ],
}


@pytest.mark.parametrize(
    ("kind", "raw"), [(CasesOracle, CASES), (OperationsOracle, OPERATIONS), (CommandsOracle, COMMANDS)]
)
def test_no_expected_value_is_among_the_inputs(kind: type[CasesOracle], raw: dict[str, Any]) -> None:
    oracle = parse_json(kind, json.dumps(raw).encode(), "x.json")
    inputs, expectations = inputs_and_expectations(oracle)
    assert len(inputs) == len(expectations)
    sent = json.dumps(inputs)
    assert not any(secret in sent for secret in (*SECRETS, "77", "expect", "raises", "canary"))
    assert any(secret in json.dumps(raw) for secret in SECRETS)


def test_the_halves_of_cases() -> None:
    oracle = CasesOracle.model_validate(CASES)
    assert oracle.inputs() == [
        {"args": [1], "kwargs": {"k": [2]}},
        {"args": [], "kwargs": {}},
        {"args": [], "kwargs": {}},
    ]
    assert oracle.expectations() == [Returned(value={"x": SECRETS[0]}), Raised(name=SECRETS[1]), Returned(value=None)]


def test_the_halves_of_operations() -> None:
    oracle = OperationsOracle.model_validate(OPERATIONS)
    assert oracle.inputs()[0] == {
        "init": {"args": [3], "kwargs": {}},
        "steps": [{"call": "put", "args": ["a"], "kwargs": {}}],
    }
    assert oracle.expectations()[1] == (Returned(value=0), Raised(name=SECRETS[1]))


def test_the_halves_of_commands() -> None:
    oracle = CommandsOracle.model_validate(COMMANDS)
    assert oracle.inputs()[0] == {
        "argv": ["python3", "-m", "p"],
        "stdin": "in",
        "files": {"in/a.csv": "text"},
        "outputs": ["no.csv", "out.csv"],
    }
    assert oracle.expectations()[1].stdout is None


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (CasesOracle, {"cases": []}),
        (CasesOracle, {"target": "p.m"}),
        (CasesOracle, {"cases": [{"raises": "Exception"}]}),
        (CasesOracle, {"cases": [{"expect": 1, "raises": "ValueError"}]}),
        (CasesOracle, {"cases": [{"args": [1], "expect": 1, "note": ""}]}),
        (OperationsOracle, {"scenarios": [{"steps": []}]}),
        (CommandsOracle, {"commands": [{"argv": [], "expect": {"status": 0}}]}),
        (CommandsOracle, {"commands": [{"argv": ["a"], "files": {"../a": ""}, "expect": {"status": 0}}]}),
        (CommandsOracle, {"commands": [{"argv": ["a"], "expect": {}}]}),
    ],
)
def test_bad_oracle_files_are_refused(kind: type[CasesOracle], change: dict[str, Any]) -> None:
    raw = {CasesOracle: CASES, OperationsOracle: OPERATIONS, CommandsOracle: COMMANDS}[kind]
    with pytest.raises(UserError) as caught:
        parse_json(kind, json.dumps({**raw, **change}).encode(), "x.json")
    assert str(caught.value).startswith("x.json: ")
    assert "\n" not in str(caught.value)


def test_models_are_frozen() -> None:
    oracle = CasesOracle.model_validate(CASES)
    with pytest.raises(ValidationError):
        oracle.canary = "other"  # type: ignore[misc]
    assert TypeAdapter(CasesOracle).validate_python(CASES) == oracle
