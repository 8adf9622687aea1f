"""Exact numbers."""

import re
from decimal import ROUND_HALF_UP, Decimal

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def number(text: str) -> Decimal | None:
    """The number that a text is, or None."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def plain(value: Decimal) -> str:
    """A number as text, without zeros at the end."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def mean(values: list[Decimal]) -> Decimal:
    """The mean, to four places."""
    return (sum(values, Decimal(0)) / len(values)).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
