"""Rows with the same values into one."""

from collections.abc import Sequence
from decimal import Decimal

from gridquery.errors import QueryError
from gridquery.numbers import mean, number, plain
from gridquery.table import Cell, Row, Table

AGGREGATES = ("count", "sum", "avg", "min", "max")


def group(table: Table, by: Sequence[str], aggregates: Sequence[tuple[str, str | None]]) -> Table:
    """One row for each combination of values in *by*, with aggregates such as ``("sum", "amount")``."""
    places = table.places(by)
    members: dict[Row, list[Row]] = {}
    for row in table.rows:
        members.setdefault(tuple(row[place] for place in places), []).append(row)
    names = [f"{word}_{column}" if column else word for word, column in aggregates]
    rows = [(*key, *(_aggregate(table, found, *what) for what in aggregates)) for key, found in members.items()]
    return Table((*by, *names), tuple(rows))


def _aggregate(table: Table, rows: list[Row], word: str, column: str | None) -> Cell:
    if column is None:
        return str(len(rows))
    (place,) = table.places([column])
    cells = [row[place] for row in rows if row[place] is not None]
    if word == "count":
        return str(len(cells))
    values = [_value(cell, column) for cell in cells]
    if not values:
        return None
    if word == "sum":
        return plain(sum(values, Decimal(0)))
    if word == "avg":
        return plain(mean(values))
    return plain(min(values) if word == "min" else max(values))


def _value(cell: str, column: str) -> Decimal:
    value = number(cell)
    if value is None:
        raise QueryError(f"{cell!r} in column {column!r} is no number")
    return value
