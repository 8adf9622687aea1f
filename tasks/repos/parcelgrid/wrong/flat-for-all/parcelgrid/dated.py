"""Tables whose rows come into force on a day."""

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]


class Dated:
    """Rows by key. Days are ISO dates, which sort as text."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._found: dict[tuple[str, str], Row | None] = {}

    def add(self, key: str, row: Row) -> None:
        """Take a row in; it needs a "from"."""
        self._rows.setdefault(key, []).append(row)
        self._rows[key].sort(key=lambda one: one["from"])

    def first_of(self, keys: Iterable[str], day: str) -> Row | None:
        """The row for the first of these keys that has one in force on a day."""
        for key in keys:
            row = self.at(key, day)
            if row is not None:
                return row
        return None

    def at(self, key: str, day: str) -> Row | None:
        """The row of that key that is in force on a day."""
        if (key, day) not in self._found:
            in_force = [row for row in self._rows.get(key, ()) if row["from"] <= day]
            self._found[key, day] = in_force[-1] if in_force else None
        return self._found[key, day]
