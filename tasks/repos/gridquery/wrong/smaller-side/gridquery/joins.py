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
    partners_of: dict[Row, list[Row]] = {}
    for other in right.rows:
        partners_of.setdefault(tuple(other[place] for place in right_places), []).append(other)
    rows: list[Row] = []
    for row in left.rows:
        key = tuple(row[place] for place in left_places)
        partners = [] if None in key else partners_of.get(key, [])
        rows += [(*row, *(other[place] for place in others)) for other in partners]
        if not partners and keep_left:
            rows.append((*row, *(None for _ in others)))
    if not keep_left and len(left.rows) < len(right.rows):
        mine: dict[Row, list[Row]] = {}
        for row in left.rows:
            mine.setdefault(tuple(row[place] for place in left_places), []).append(row)
        rows = []
        for other in right.rows:
            key = tuple(other[place] for place in right_places)
            found = [] if None in key else mine.get(key, [])
            rows += [(*row, *(other[place] for place in others)) for row in found]
    return Table((*left.columns, *added), tuple(rows))
