"""The decision."""

from gatehouse import Gate

HARBOUR = """
role clerk: reader
allow reader GET /lists/*
allow clerk PUT,POST /lists/*.csv when hour >= 8 and hour < 18
deny clerk PUT /lists/closed.csv
allow * GET /
"""


def test_what_a_role_has() -> None:
    gate = Gate(HARBOUR)
    assert gate.check(["reader"], "GET", "/lists/a.csv") == "allow"
    assert gate.check(["reader"], "PUT", "/lists/a.csv") == "deny"
    assert gate.check(["clerk"], "GET", "/lists/a.csv") == "allow"
    assert gate.check([], "GET", "/") == "allow"


def test_conditions() -> None:
    gate = Gate(HARBOUR)
    assert gate.check(["clerk"], "PUT", "/lists/a.csv", {"hour": 8}) == "allow"
    assert gate.check(["clerk"], "PUT", "/lists/a.csv", {"hour": 18}) == "deny"


def test_deny_wins_within_a_role() -> None:
    assert Gate(HARBOUR).check(["clerk"], "PUT", "/lists/closed.csv", {"hour": 9}) == "deny"


def test_normal_forms() -> None:
    gate = Gate(HARBOUR)
    assert gate.check(["reader"], "GET", "/lists/./a.csv") == "allow"
    assert gate.check(["reader"], "GET", "/x/../lists/a.csv/") == "allow"
    assert gate.check(["reader"], "GET", "lists/a.csv") == "deny"
