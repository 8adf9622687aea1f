"""The stitches and what each does to the needle."""

from typing import NamedTuple


class Stitch(NamedTuple):
    """How many stitches one takes from the needle, how many it makes, and its symbol in a chart."""

    takes: int
    makes: int
    symbol: str


STITCHES = {
    "k2tog": Stitch(2, 1, "/"),
    "ssk": Stitch(2, 1, "\\"),
    "kfb": Stitch(1, 2, "Y"),
    "yo": Stitch(0, 1, "o"),
    "sl": Stitch(1, 1, "V"),
    "k": Stitch(1, 1, "|"),
    "p": Stitch(1, 1, "-"),
}


class PatternError(Exception):
    """The pattern can't be worked."""


def taken(names: list[str]) -> int:
    """How many stitches of the needle these take."""
    return sum(STITCHES[name].takes for name in names)


def made(names: list[str]) -> int:
    """How many stitches are on the needle when these have been worked."""
    return sum(STITCHES[name].makes for name in names)
