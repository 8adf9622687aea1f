"""US dollars as whole picodollars: exact in a ledger, and rounded only where they are shown.

A rate of six decimals a million tokens is a whole number of picodollars a token, so nothing is ever rounded on the way.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact
from typing import Annotated

from pydantic import Field

USD = 10**12
"""Picodollars of one dollar."""

Dollars = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,5})(\.[0-9]{1,12})?$")]
"""Dollars as a user or a file writes them: under a million, to the picodollar."""

_EXACT = Context(prec=80, traps=[Inexact])


def pusd(text: str) -> int:
    """Dollars in decimal as picodollars.

    Raises:
        Inexact: there are more than twelve decimals.
    """
    return int(_EXACT.scaleb(Decimal(text), 12).to_integral_exact(context=_EXACT))


def usd(value: int) -> str:
    """Picodollars as an exact decimal text of dollars, without zeros at the end."""
    text = format(_EXACT.scaleb(Decimal(value), -12), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(value: int | str, places: int = 4) -> str:
    """Picodollars, or dollars in decimal, as a reader sees them: ``$0.3200``; what would round to nothing says so."""
    exact = Decimal(usd(value) if isinstance(value, int) else value)
    least = Decimal(1).scaleb(-places)
    rounded = exact.quantize(least, rounding=ROUND_HALF_EVEN, context=Context(prec=80))
    return f"<${least}" if exact and not rounded else f"${rounded}"
