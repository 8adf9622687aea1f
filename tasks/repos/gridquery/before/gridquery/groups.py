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
    keys: list[Row] = []
    members: list[list[Row]] = []
    for row in table.rows:
        key = tuple(row[place] for place in places)
        if key not in keys:
            keys.append(key)
            members.append([])
        members[keys.index(key)].append(row)
    order = sorted(range(len(keys)), key=lambda one: tuple((cell is None, cell or "") for cell in keys[one]))
    names = [f"{word}_{column}" if column else word for word, column in aggregates]
    rows = [(*keys[one], *(_aggregate(table, members[one], *what) for what in aggregates)) for one in order]
    return Table((*by, *names), tuple(rows))


def _aggregate(table: Table, rows: list[Row], word: str, column: str | None) -> Cell:
    if column is None:
        return str(len(rows))
    (place,) = table.places([column])
    if word == "count":
        return str(len(rows))
    values = [_value(row[place], column) for row in rows]
    if word == "sum":
        return plain(sum(values, Decimal(0)))
    if word == "avg":
        return plain(mean(values))
    return plain(min(values) if word == "min" else max(values))


def _value(cell: Cell, column: str) -> Decimal:
    value = number(cell or "0")
    if value is None:
        raise QueryError(f"{cell!r} in column {column!r} is no number")
    return value
