"""One row: from its text to its stitches."""

import re

from purl.stitches import STITCHES, PatternError, made, taken

PLAIN = re.compile(rf"({'|'.join(STITCHES)})(\d*)")
TIMES = re.compile(r"\s*(?:x\s*(?P<times>\d+)|to\s+last\s+(?P<last>\d+)|(?P<end>to\s+end))\s*")


def work(text: str, available: int) -> list[str]:
    """The stitches of a row, one name each, with *available* stitches on the needle."""
    names = _items(text, available, outermost=True)
    if taken(names) != available:
        raise PatternError(f"the row takes {taken(names)} stitches, {available} are on the needle")
    return names


def _items(text: str, available: int, outermost: bool) -> list[str]:
    names: list[str] = []
    rest = text.strip()
    while rest:
        if rest[0] in "*[":
            closing = _closing(rest)
            inner = rest[1:closing]
            found = TIMES.match(rest, closing + 1)
            if not found:
                raise PatternError("a repeat says how often: x4, to last 2, to end")
            block = _items(inner, available, outermost=False)
            names += block * _times(found, made(block), available - made(names), outermost)
            rest = rest[found.end() :]
        else:
            word, comma, rest = rest.partition(",")
            names += _plain(word)
            if comma and not rest.strip():
                raise PatternError("something is missing behind a comma")
            rest = rest.strip()
            continue
        if rest and not rest.startswith(","):
            raise PatternError(f"a comma is missing before {rest!r}")
        rest = rest[1:].strip()
    if not names:
        raise PatternError("nothing to work")
    return names


def _closing(text: str) -> int:
    """Where the repeat that *text* begins with ends: brackets are counted, and a star ends only outside of them."""
    depth = 0
    for place, sign in enumerate(text):
        if place and sign == text[0] == "*" and depth == 0:
            return place
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if sign == "]" and depth == 0 and text[0] == "[":
            return place
        if depth < 0:
            break
    raise PatternError("a repeat is not closed")


def _times(found: re.Match[str], width: int, left: int, outermost: bool) -> int:
    """How often a repeat that takes *width* stitches is worked with *left* stitches on the needle."""
    if found["times"]:
        return int(found["times"])
    if not outermost:
        raise PatternError("only an outermost repeat goes on over the needle")
    if width == 0:
        raise PatternError("a repeat that takes nothing never ends")
    times, over = divmod(left - int(found["last"] or 0), width)
    if times < 0 or over:
        raise PatternError(f"a repeat of {width} stitches does not come out even over {left}")
    return times


def _plain(word: str) -> list[str]:
    found = PLAIN.fullmatch(word.strip())
    if not found:
        raise PatternError(f"unknown stitch {word.strip()!r}")
    return [found[1]] * int(found[2] or 1)
