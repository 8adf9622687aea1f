"""Rows in order."""

from collections.abc import Callable, Sequence
from typing import Any

from gridquery.numbers import number
from gridquery.table import Row, Table


def sort(table: Table, by: Sequence[tuple[str, bool]]) -> Table:
    """Sorted by columns, each with whether it goes down; the first counts most."""
    rows = list(table.rows)
    for (column, down), place in zip(reversed(by), reversed(table.places([name for name, _ in by]))):
        key = _key(table.rows, place)
        nulls = [row for row in rows if row[place] is None]
        rows = [row for row in rows if row[place] is not None]
        rows.sort(key=lambda row, place=place, key=key: key(row[place]), reverse=down)
        rows += nulls
    return Table(table.columns, tuple(rows))


def _key(rows: Sequence[Row], place: int) -> Callable[[str], Any]:
    numeric = all(number(row[place]) is not None for row in rows if row[place] is not None)

    return number if numeric else str
