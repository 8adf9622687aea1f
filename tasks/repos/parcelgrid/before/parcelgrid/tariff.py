"""Reading a tariff file."""

import json
from dataclasses import dataclass

from parcelgrid.surcharges import CHAIN, FLAT, Surcharges
from parcelgrid.zones import Zones


class TariffError(ValueError):
    """The file is no tariff."""


@dataclass(frozen=True)
class Tariff:
    """A carrier's prices."""

    name: str
    divisor: int
    zones: Zones
    rates: dict[str, list[list[int]]]
    surcharges: Surcharges


def read_tariff(text: str) -> Tariff:
    """Parse a tariff."""
    try:
        raw = json.loads(text)
        stacking = raw.get("stacking", CHAIN)
        entries = raw.get("surcharges", [])
        codes = [entry["code"] for entry in entries]
        if stacking not in {CHAIN, FLAT} or len(set(codes)) != len(codes):
            raise TariffError("unknown stacking, or a code used twice")
        return Tariff(
            raw["name"],
            raw.get("divisor", 5000),
            Zones(raw["zones"]),
            {zone: sorted(bands) for zone, bands in raw["rates"].items()},
            Surcharges(entries, stacking),
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise TariffError(str(error)) from error
