"""From a postcode to a zone."""

from typing import Any

from parcelgrid.dated import Dated


class Zones:
    """The zone table of a tariff."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._table = Dated()
        for row in rows:
            self._table.add(row["prefix"], row)

    def zone(self, postcode: str, day: str) -> str | None:
        """The zone of a postcode on a day; None if there is none."""
        plain = postcode.replace(" ", "").upper()
        row = self._table.first_of((plain[:size] for size in range(len(plain), 0, -1)), day)
        return None if row is None else row["zone"]
