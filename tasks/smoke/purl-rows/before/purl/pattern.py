"""A whole pattern: its rows, in order, each fitting the one before."""

import re
from typing import NamedTuple

from purl.rows import work
from purl.stitches import PatternError, made

ROW = re.compile(r"Row\s+(\d+)\s*:(.*)")


class Row(NamedTuple):
    """A row worked out: its number, the stitches before and after it, and its own."""

    number: int
    before: int
    after: int
    names: list[str]


def rows_of(text: str, cast_on: int) -> list[Row]:
    """Work every row of a pattern out."""
    rows: list[Row] = []
    available = cast_on
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = ROW.fullmatch(line.strip())
        if not found or int(found[1]) != len(rows) + 1:
            raise PatternError(f"expected row {len(rows) + 1}: {line!r}")
        names = work(found[2], available)
        rows.append(Row(len(rows) + 1, available, made(names), names))
        available = made(names)
    if not rows:
        raise PatternError("the pattern has no rows")
    return rows
