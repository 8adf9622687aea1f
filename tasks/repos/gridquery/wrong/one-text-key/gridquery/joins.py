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
    partners_of: dict[str, list[Row]] = {}
    for other in right.rows:
        partners_of.setdefault(",".join(other[place] or "" for place in right_places), []).append(other)
    rows: list[Row] = []
    for row in left.rows:
        key = ",".join(row[place] or "" for place in left_places)
        partners = partners_of.get(key, []) if key.strip(",") else []
        rows += [(*row, *(other[place] for place in others)) for other in partners]
        if not partners and keep_left:
            rows.append((*row, *(None for _ in others)))
    return Table((*left.columns, *added), tuple(rows))
