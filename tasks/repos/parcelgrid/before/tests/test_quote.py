"""Quotes with the example tariff."""

from pathlib import Path

import pytest

from parcelgrid.quote import NoQuote, quote
from parcelgrid.tariff import read_tariff

NORTH = (Path(__file__).parent.parent / "examples" / "north.json").read_text()


def parcel(**more: str) -> dict[str, str]:
    return {
        "postcode": "10115", "date": "2026-03-01", "weight": "1.5 kg",
        "length": "20 cm", "width": "15 cm", "height": "10 cm", **more,
    }


def test_the_scale_weight_decides_for_small_parcels() -> None:
    made = quote(read_tariff(NORTH), parcel())
    assert (made.zone, made.billable_g, made.freight, made.total) == ("A", 1500, 520, 520)


def test_the_volume_weight_decides_for_light_ones() -> None:
    made = quote(read_tariff(NORTH), parcel(length="50 cm", width="30 cm", height="10 cm"))
    assert (made.billable_g, made.freight) == (3000, 690)


def test_remote_zones_cost_more() -> None:
    made = quote(read_tariff(NORTH), parcel(postcode="99 011"))
    assert (made.zone, made.surcharges, made.total) == ("C", [("remote", 350)], 1840)


def test_codes() -> None:
    for change, code in (
        ({"date": "1.3.2026"}, "bad-date"),
        ({"weight": "heavy"}, "bad-weight"),
        ({"width": "0 cm"}, "bad-size"),
        ({"postcode": "30001"}, "no-zone"),
        ({"weight": "5001 g"}, "too-heavy"),
    ):
        with pytest.raises(NoQuote, match=code):
            quote(read_tariff(NORTH), parcel(**change))
