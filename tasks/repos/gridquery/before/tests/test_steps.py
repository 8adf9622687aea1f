"""The steps as functions."""

from gridquery.groups import group
from gridquery.joins import join
from gridquery.sorting import sort
from gridquery.table import Table

SALES = Table(("shop", "amount"), (("b", "3"), ("a", "10"), ("b", "4.5")))
SHOPS = Table(("shop", "region"), (("a", "north"), ("b", "south")))


def test_join() -> None:
    assert join(SALES, SHOPS, ["shop"]).rows == (("b", "3", "south"), ("a", "10", "north"), ("b", "4.5", "south"))


def test_left_join() -> None:
    assert join(SHOPS, Table(("shop", "boss"), (("b", "eve"),)), ["shop"], keep_left=True).rows == (("a", "north", None), ("b", "south", "eve"))


def test_group() -> None:
    answer = group(SALES, ["shop"], [("sum", "amount"), ("count", None)])
    assert answer.columns == ("shop", "sum_amount", "count")
    assert set(answer.rows) == {("a", "10", "1"), ("b", "7.5", "2")}


def test_numbers_sort_as_numbers() -> None:
    assert [row[1] for row in sort(SALES, [("amount", True)]).rows] == ["10", "4.5", "3"]
