"""Rows that fit."""

import operator

from gridquery.errors import QueryError
from gridquery.numbers import number
from gridquery.table import Table

_COMPARISONS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def where(table: Table, column: str, sign: str, value: str) -> Table:
    """The rows whose cell compares so with a value. Nulls never do."""
    (place,) = table.places([column])
    if sign not in _COMPARISONS:
        raise QueryError(f"unknown comparison {sign!r}")
    compare, wanted = _COMPARISONS[sign], number(value)

    def fits(cell: str | None) -> bool:
        if cell is None:
            return False
        given = number(cell)
        return bool(compare(given, wanted) if given is not None and wanted is not None else compare(cell, value))

    return Table(table.columns, tuple(row for row in table.rows if fits(row[place])))


def where_null(table: Table, column: str, *, null: bool) -> Table:
    """The rows whose cell is null, or isn't."""
    (place,) = table.places([column])
    return Table(table.columns, tuple(row for row in table.rows if (row[place] is None) is null))
