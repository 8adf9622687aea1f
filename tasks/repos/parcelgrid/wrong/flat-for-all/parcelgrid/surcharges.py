"""What comes on top of the freight."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from parcelgrid.dated import Dated
from parcelgrid.money import percent_of

CHAIN, FLAT = "chain", "flat"


class Surcharges:
    """The surcharges of a tariff, in its order."""

    def __init__(self, entries: list[dict[str, Any]], stacking: str) -> None:
        self._entries = entries
        self._stacking = stacking
        self._percents = Dated()
        for entry in entries:
            for row in entry.get("percent", ()):
                self._percents.add(entry["code"], row)

    def charge(self, freight: int, zone: str, longest_mm: Fraction, day: str) -> list[tuple[str, int]]:
        """Code and cents of everything that is charged, in the order of the tariff."""
        charged: list[tuple[str, int]] = []
        total = freight
        due = [entry for entry in self._entries if _applies(entry, zone, longest_mm)]
        flat = freight + sum(entry["cents"] for entry in due if entry["kind"] == "fixed")
        for entry in due:
            if entry["kind"] == "fixed":
                cents = entry["cents"]
            else:
                row = self._percents.at(entry["code"], day)
                if row is None:
                    continue
                cents = percent_of(flat, Decimal(row["percent"]))
            charged.append((entry["code"], cents))
            total += cents
        return charged


def _applies(entry: dict[str, Any], zone: str, longest_mm: Fraction) -> bool:
    if "zones" in entry and zone not in entry["zones"]:
        return False
    return "over_mm" not in entry or longest_mm > entry["over_mm"]
