"""Whole cents, rounded half up."""

from decimal import ROUND_HALF_UP, Decimal


def percent_of(cents: int, percent: Decimal) -> int:
    """So many percent of an amount."""
    return int((cents * percent / 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))
