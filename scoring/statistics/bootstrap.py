"""Resampling from a specified generator: the same bytes in every version of Python and of every library.

Resample number r of purpose P with seed S draws 64-bit words, little-endian, from SHAKE-128 (FIPS 202) over the text
``trialbox bootstrap 1/P/S/r``. A place among n is the upper half of word x n (so a place is off by less than n /
2^64), and a number of solved attempts is the inverse of its distribution at word / 2^64, whose exact values are
rounded down to 64 bits. All else is whole numbers.
"""

from __future__ import annotations

import hashlib
import math
import struct
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

RESAMPLES = 1000
_WORD = 1 << 64


def words(purpose: str, seed: int, number: int, count: int) -> tuple[int, ...]:
    """The first *count* words of a resample."""
    stream = hashlib.shake_128(f"trialbox bootstrap 1/{purpose}/{seed}/{number}".encode()).digest(8 * count)
    return struct.unpack(f"<{count}Q", stream)


def places(drawn: Sequence[int], of: int) -> list[int]:
    """As many places among *of* as there are words: a resample with replacement."""
    return [word * of >> 64 for word in drawn]


def two_level(
    tasks: Sequence[tuple[int, int]], *, purpose: str = "rate", seed: int = 0, resamples: int = RESAMPLES
) -> list[Fraction]:
    """The mean over tasks in each resample, from the least to the greatest.

    Tasks are drawn with replacement, and of each its attempts; the number of solved ones among n attempts drawn from
    c solved and n - c others is binomial, and is drawn as such.

    Args:
        tasks: of each task that has an attempt, how many were solved and how many there are.
        purpose: a name that keeps streams apart.
        seed: of the resamples.
        resamples: how many.
    """
    size = len(tasks)
    if not size:
        return []
    common = math.lcm(*(attempts for _, attempts in tasks))
    tables = [_table(solved, attempts) for solved, attempts in tasks]
    shares = [common // attempts for _, attempts in tasks]
    sums = []
    for number in range(resamples):
        drawn = words(purpose, seed, number, 2 * size)
        chosen = places(drawn[:size], size)
        sums.append(
            sum(
                bisect_right(tables[place], word) * shares[place]
                for place, word in zip(chosen, drawn[size:], strict=True)
            )
        )
    return [Fraction(one, common * size) for one in sorted(sums)]


def percentiles(ordered: Sequence[Fraction], level: Fraction) -> tuple[Fraction, Fraction]:
    """The two values between which the middle *level* of them lies, by nearest rank."""
    tail = (1 - level) / 2
    low, high = math.ceil(tail * len(ordered)), math.ceil((1 - tail) * len(ordered))
    return ordered[max(low, 1) - 1], ordered[high - 1]


@cache
def _table(solved: int, attempts: int) -> tuple[int, ...]:
    """The chances of at most 0, 1, ... solved in a resample, in units of 2^-64; that of all of them is left out."""
    whole = attempts**attempts
    total, found = 0, []
    for number in range(attempts):
        total += math.comb(attempts, number) * solved**number * (attempts - solved) ** (attempts - number)
        found.append(total * _WORD // whole)
    return tuple(found)
