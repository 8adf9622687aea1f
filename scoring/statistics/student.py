"""Student's t for whole degrees of freedom, and the normal quantile: the same digits on every machine.

The t distribution has a finite form when its degrees of freedom are whole (Abramowitz and Stegun 26.7.3, 26.7.4), so it
is worked out in decimal arithmetic of 40 digits, which is exactly specified; floats differ between platforms and
versions of a library. Quantiles are rounded to 15 places and exact from there on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

DIGITS = 40
PLACES = 15
Z95 = Fraction("1.959963984540054")
"""The normal quantile for a two-sided level of 95%."""
_ROOT_SCALE = 10**24


def root(value: Fraction) -> Fraction:
    """The square root to 24 places, rounded down.

    Raises:
        ValueError: the value is negative.
    """
    return Fraction(math.isqrt(value.numerator * _ROOT_SCALE**2 // value.denominator), _ROOT_SCALE)


def two_sided(t: Fraction, freedom: int) -> Fraction:
    """The chance that |T| is at least |t|: the p-value of a t statistic, to 15 places."""
    with _digits():
        return _rounded(1 - _within(_decimal(abs(t)), _checked(freedom)))


def normal_two_sided(squared: Fraction) -> Fraction:
    """The chance that a normal value lies at least as far out as the root of *squared*, to 15 places."""
    if squared > 70:
        return Fraction(0)
    with _digits():
        half = _decimal(squared) / 2
        term = total = Decimal(1)
        step = 0
        while abs(term) > Decimal(10) ** -(DIGITS + 4):  # the series of the error function, which 70 keeps exact enough
            step += 1
            term *= -half / step
            total += term / (2 * step + 1)
        return _rounded(max(1 - 2 * (half / _pi()).sqrt() * total, Decimal(0)))


@cache
def quantile(level: Fraction, freedom: int) -> Fraction:
    """The t within which |T| lies with chance *level* (0.95 gives what is often called t of 0.975), to 15 places.

    Raises:
        ValueError: the level is not between 0 and 1, or there is no degree of freedom.
    """
    if not 0 < level < 1:
        raise ValueError("a level lies between 0 and 1")
    _checked(freedom)
    with _digits():
        wanted = _decimal(level)
        high = Decimal(1)
        while _within(high, freedom) < wanted:
            high *= 2
        return _rounded(_solve(wanted, freedom, high))


def _solve(wanted: Decimal, freedom: int, high: Decimal) -> Decimal:
    """Where the chance is the wanted one: false position with the Illinois rule, within a bracket that holds it."""
    low, below, above = Decimal(0), -wanted, _within(high, freedom) - wanted
    enough = Decimal(10) ** -(PLACES + 6)
    while high - low > enough:
        middle = (low * above - high * below) / (above - below)
        error = _within(middle, freedom) - wanted
        if abs(error) < enough * enough or not low < middle < high:
            return middle
        if error > 0:
            high, above, below = middle, error, below / 2
        else:
            low, below, above = middle, error, above / 2
    return (low + high) / 2


def _within(t: Decimal, freedom: int) -> Decimal:
    """The chance that |T| is under t."""
    cosine2 = freedom / (freedom + t * t)
    sine = (1 - cosine2).sqrt()
    odd = freedom % 2
    term = total = cosine2.sqrt() if odd and freedom > 1 else Decimal(0 if odd else 1)
    for step in range(3 if odd else 2, freedom - 1, 2):
        term = term * cosine2 * (step - 1) / step
        total += term
    if not odd:
        return sine * total
    return 2 * (_arctan(t / Decimal(freedom).sqrt()) + sine * total) / _pi()


def _arctan(x: Decimal) -> Decimal:
    """The arc tangent: the angle is halved until its series is short."""
    for _ in range(8):
        x = x / (1 + (1 + x * x).sqrt())
    square, term, total, step = x * x, x, x, 1
    while term and abs(term) > Decimal(10) ** -(DIGITS + 4):
        step += 2
        term *= -square
        total += term / step
    return total * 2**8


@cache
def _pi() -> Decimal:
    with _digits():
        return 4 * _arctan(Decimal(1))


def _checked(freedom: int) -> int:
    if freedom < 1:
        raise ValueError("there is no degree of freedom")
    return freedom


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _rounded(value: Decimal) -> Fraction:
    return Fraction(value.quantize(Decimal(1).scaleb(-PLACES)))


@contextmanager
def _digits() -> Iterator[None]:
    with localcontext(Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)):
        yield
