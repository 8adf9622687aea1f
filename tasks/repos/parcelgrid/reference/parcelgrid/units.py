"""What is written on a parcel: weights and sides."""

import re
from decimal import Decimal
from fractions import Fraction

GRAMS = {"g": Decimal(1), "kg": Decimal(1000)}
MILLIMETRES = {"mm": Decimal(1), "cm": Decimal(10), "in": Decimal("25.4")}

_WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*")


def _read(text: str, units: dict[str, Decimal]) -> Decimal:
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2] not in units or Decimal(found[1]) == 0:
        raise ValueError(f"not a positive number with one of {', '.join(units)}: {text!r}")
    return Decimal(found[1]) * units[found[2]]


def weight_g(text: str) -> Fraction:
    """A weight in grams, exactly."""
    return Fraction(_read(text, GRAMS))


def side_mm(text: str) -> Fraction:
    """A side in millimetres, exactly."""
    return Fraction(_read(text, MILLIMETRES))
