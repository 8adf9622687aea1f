"""Tables: named columns and rows of texts and nulls."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from gridquery.errors import QueryError

Cell = str | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A table."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def places(self, names: Sequence[str]) -> list[int]:
        """Where these columns are."""
        for name in names:
            if name not in self.columns:
                raise QueryError(f"no column {name!r}")
        return [self.columns.index(name) for name in names]


def read_csv(text: str) -> Table:
    """Read a table; an empty cell is null."""
    lines = [line for line in csv.reader(io.StringIO(text)) if line]
    if not lines or len(set(lines[0])) != len(lines[0]) or any(len(line) != len(lines[0]) for line in lines):
        raise QueryError("a table has a header with different names, and rows of its length")
    return Table(tuple(lines[0]), tuple(tuple(cell or None for cell in line) for line in lines[1:]))


def write_csv(table: Table) -> str:
    """Write a table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)
    return out.getvalue()
