"""One factor of a score: an exact fraction in 0..1, or the reason why there is none, and the parts it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Self

from pydantic import Field, model_validator

from harness.records import Record
from scoring.figures import Figure, decimal, known, missing

Ratio = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)/[1-9][0-9]*$")]


@lru_cache(maxsize=1 << 14)
def _shown(exact: str) -> str:
    """To six places: few different ones fill a card."""
    return decimal(Fraction(exact))


class Factor(Record):
    """``exact`` is the value as a fraction in lowest terms, ``figure`` the same to six places.

    ``parts`` are what a reader needs to check it; a part that is missing says why, and then so does the factor.
    """

    figure: Figure
    exact: Ratio | None
    parts: dict[str, Figure]

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        shown = None if self.exact is None else _shown(self.exact)
        if shown != self.figure.value:
            raise ValueError(f"{self.exact} is not {self.figure.value}")
        return self

    @property
    def fraction(self) -> Fraction | None:
        """The exact value."""
        return None if self.exact is None else Fraction(self.exact)


def factor(value: Fraction, parts: Mapping[str, Figure]) -> Factor:
    """A factor that there is."""
    return Factor(figure=known(value), exact=f"{value.numerator}/{value.denominator}", parts=dict(parts))


def no_factor(reason: str, parts: Mapping[str, Figure] | None = None) -> Factor:
    """A factor that could not be had."""
    return Factor(figure=missing(reason), exact=None, parts=dict(parts or {}))


def clamp(value: Fraction) -> Fraction:
    """The nearest value in 0..1."""
    return min(max(value, Fraction(0)), Fraction(1))
