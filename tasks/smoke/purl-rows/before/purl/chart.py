"""A chart of a pattern, the way knitters draw it."""

from purl.pattern import Row
from purl.stitches import STITCHES

SEEN_FROM_BEHIND = {"k": "p", "p": "k"}


def chart(rows: list[Row]) -> str:
    """The last row is on top. Odd rows run from right to left; even rows, worked from behind, from left to right."""
    return "".join(f"{row.number:>3} {_line(row)}\n" for row in reversed(rows))


def _line(row: Row) -> str:
    if row.number % 2:
        return "".join(STITCHES[name].symbol for name in reversed(row.names))
    return "".join(STITCHES[SEEN_FROM_BEHIND.get(name, name)].symbol for name in row.names)
