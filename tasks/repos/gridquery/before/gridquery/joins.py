"""Two tables into one."""

from collections.abc import Sequence

from gridquery.errors import QueryError
from gridquery.table import Row, Table


def join(left: Table, right: Table, on: Sequence[str], *, keep_left: bool = False) -> Table:
    """Each row of *left* with its partners in *right*; with *keep_left* also those that have none."""
    left_places, right_places = left.places(on), right.places(on)
    others = [place for place in range(len(right.columns)) if place not in right_places]
    added = tuple(right.columns[place] for place in others)
    for name in added:
        if name in left.columns:
            raise QueryError(f"both sides have a column {name!r}")
    rows: list[Row] = []
    for row in left.rows:
        partners = [
            other
            for other in right.rows
            if all(row[a] == other[b] for a, b in zip(left_places, right_places))
        ]
        rows += [(*row, *(other[place] for place in others)) for other in partners]
        if not partners and keep_left:
            rows.append((*row, *(None for _ in others)))
    return Table((*left.columns, *added), tuple(rows))
