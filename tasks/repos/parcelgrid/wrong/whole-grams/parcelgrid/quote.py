"""The price of one parcel."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from parcelgrid.tariff import Tariff
from parcelgrid.units import side_mm, weight_g

STEP_G = 100
"""Billable weights are multiples of this."""


class NoQuote(ValueError):
    """The parcel can't be quoted; the text is the code."""


@dataclass(frozen=True)
class Quote:
    """A quoted parcel, in cents."""

    zone: str
    billable_g: int
    freight: int
    surcharges: list[tuple[str, int]]

    @property
    def total(self) -> int:
        """Everything together."""
        return self.freight + sum(cents for _, cents in self.surcharges)


def quote(tariff: Tariff, parcel: dict[str, str]) -> Quote:
    """Quote a parcel: postcode, date, weight, length, width and height as they are written."""
    day = _day(parcel["date"])
    try:
        scale = weight_g(parcel["weight"])
    except ValueError as error:
        raise NoQuote("bad-weight") from error
    try:
        sides = [side_mm(parcel[side]) for side in ("length", "width", "height")]
    except ValueError as error:
        raise NoQuote("bad-size") from error
    zone = tariff.zones.zone(parcel["postcode"], day)
    if zone is None:
        raise NoQuote("no-zone")
    volume_g = sides[0] * sides[1] * sides[2] // tariff.divisor  # cubic millimetres: 1000 to the cm3, and to the kg
    billable = _step_up(max(scale, volume_g))
    freight = _freight(tariff.rates.get(zone, []), billable)
    return Quote(zone, billable, freight, tariff.surcharges.charge(freight, zone, max(sides), day))


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise NoQuote("bad-date") from error


def _step_up(grams: Fraction) -> int:
    """The one place where a weight is rounded."""
    return -(-grams // STEP_G) * STEP_G


def _freight(bands: list[list[int]], grams: int) -> int:
    for upper, cents in bands:
        if grams <= upper:
            return cents
    raise NoQuote("too-heavy")
