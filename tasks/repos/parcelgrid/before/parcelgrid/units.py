"""What is written on a parcel: weights and sides."""

import re
from decimal import ROUND_HALF_UP, Decimal

GRAMS = {"g": Decimal(1), "kg": Decimal(1000)}
MILLIMETRES = {"mm": Decimal(1), "cm": Decimal(10), "in": Decimal("25.4")}

_WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)\s*")


def _read(text: str, units: dict[str, Decimal]) -> Decimal:
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2] not in units or Decimal(found[1]) == 0:
        raise ValueError(f"not a positive number with one of {', '.join(units)}: {text!r}")
    return Decimal(found[1]) * units[found[2]]


def weight_g(text: str) -> int:
    """A weight in grams."""
    return int(_read(text, GRAMS))


def side_cm(text: str) -> int:
    """A side in centimetres."""
    return int((_read(text, MILLIMETRES) / 10).quantize(Decimal(1), rounding=ROUND_HALF_UP))
