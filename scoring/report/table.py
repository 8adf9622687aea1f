"""The parts of a report that every table is made of: texts in rows, and figures as readers see them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

NONE = "–"


@dataclass(frozen=True)
class Table:
    """Rows of plain text under headings; every row has as many texts as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def seconds(value_us: int | None) -> str:
    """A time in seconds, or a dash."""
    return NONE if value_us is None else places(Fraction(value_us, 10**6))


def places(value: Fraction) -> str:
    """A value to three places."""
    scaled = round(value * 1000)
    whole, rest = divmod(abs(scaled), 1000)
    return f"{'-' if scaled < 0 else ''}{whole}.{rest:03d}"
