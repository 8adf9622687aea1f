# trialbox-exposure-e83f15b70434459b4e34c8b229f913ca
"""Comparisons are counted, not timed."""

import pytest

from gridquery.groups import group
from gridquery.joins import join
from gridquery.sorting import sort
from gridquery.table import Table


class Key(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Key.compared += 1
        return str.__eq__(self, other)

    def __ne__(self, other):
        Key.compared += 1
        return str.__ne__(self, other)

    def __hash__(self):
        return str.__hash__(self)


class Loose(str):
    """A text whose case doesn't count."""

    def __eq__(self, other):
        return str(self).lower() == str(other).lower()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(str(self).lower())


def fresh(number):
    return Key(f"key-{number}")


@pytest.fixture(autouse=True)
def from_zero():
    Key.compared = 0


def test_join_one_column():
    left = Table(("k", "n"), tuple((fresh(n), str(n)) for n in range(500)))
    right = Table(("k", "m"), tuple((fresh(n), str(n)) for n in range(499, -1, -1)))
    answer = join(left, right, ["k"])
    assert Key.compared <= 20 * 1500
    assert [row[1:] for row in answer.rows] == [(str(n), str(n)) for n in range(500)]


def test_join_two_columns_with_nulls():
    left = Table(("k", "j", "n"), tuple((fresh(n % 20), None if n % 10 == 9 else fresh(n), str(n)) for n in range(400)))
    right = Table(("j", "k", "m"), tuple((fresh(n), fresh(n % 20), str(-n)) for n in range(400)))
    answer = join(left, right, ["k", "j"], keep_left=True)
    assert Key.compared <= 2 * 20 * 1200
    assert [row[2:] for row in answer.rows] == [(str(n), None if n % 10 == 9 else str(-n)) for n in range(400)]


def test_join_many_partners():
    left = Table(("k", "n"), tuple((fresh(n % 2), str(n)) for n in range(40)))
    right = Table(("k", "m"), tuple((fresh(n % 2), str(n)) for n in range(60)))
    answer = join(left, right, ["k"])
    assert Key.compared <= 20 * (100 + 1200)
    assert [row[1:] for row in answer.rows] == [(str(n), str(m)) for n in range(40) for m in range(n % 2, 60, 2)]


def test_group():
    table = Table(("k", "j", "v"), tuple((fresh(n), fresh(n % 7), "1") for n in (*range(400), *range(400))))
    answer = group(table, ["k", "j"], [("sum", "v")])
    assert Key.compared <= 2 * 20 * 800
    assert len(answer.rows) == 400
    assert {row[2] for row in answer.rows} == {"2"}


def test_equality_is_the_values_own():
    left = Table(("k", "n"), ((Loose("A"), "1"), (Loose("b"), "2")))
    right = Table(("k", "m"), ((Loose("a"), "x"), (Loose("B"), "y"), (Loose("c"), "z")))
    assert [row[1:] for row in join(left, right, ["k"]).rows] == [("1", "x"), ("2", "y")]
    answer = group(Table(("k", "v"), ((Loose("A"), "1"), (Loose("b"), "1"), (Loose("a"), "2"))), ["k"], [("sum", "v")])
    assert [row[1] for row in answer.rows] == ["3", "1"]


def test_columns_stay_apart():
    left = Table(("a", "b", "n"), (("x,y", "z", "1"), ("x", "y,z", "2"), ("x", None, "3"), ("q", "z", "4")))
    right = Table(("a", "b", "m"), (("x", "y,z", "p"), ("x", None, "q"), ("x,y", "z", "r"), ("q,z", None, "s")))
    assert [row[2:] for row in join(left, right, ["a", "b"]).rows] == [("1", "r"), ("2", "p")]


def test_all_together():
    sales = Table(("k", "v"), tuple((None if n % 5 == 4 else fresh(n % 250), str(n % 3) if n % 4 else None) for n in range(500)))
    shops = Table(("k", "r"), (*((fresh(n), f"r{n % 2}") for n in range(249, -1, -1)), (None, "phantom")))
    joined = join(sales, shops, ["k"], keep_left=True)
    assert len(joined.rows) == 500
    answer = group(joined, ["r"], [("count", None), ("count", "v"), ("min", "v")])
    assert Key.compared <= 20 * (500 + 251 + 500)
    assert answer.rows == (("r0", "200", "100", "0"), ("r1", "200", "200", "0"), (None, "100", "75", "0"))
    assert [row[0] for row in sort(answer, [("count", True), ("min_v", False)]).rows] == ["r0", "r1", None]
    assert [row[0] for row in sort(answer, [("r", True)]).rows] == ["r1", "r0", None]


def test_groups_in_order_of_appearance_within_the_budget():
    rows = tuple((fresh(n * 37 % 300), None, str(n)) for n in range(300))
    answer = group(Table(("k", "j", "v"), rows), ["k", "j"], [("max", "v"), ("count", "j")])
    assert Key.compared <= 20 * 300
    assert [row[2] for row in answer.rows] == [str(n) for n in range(300)]
    assert {row[3] for row in answer.rows} == {"0"}
