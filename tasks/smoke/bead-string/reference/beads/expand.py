"""From the short form to single beads."""

import re

NUMBER = re.compile(r"[1-9][0-9]*")


def expand(short: str) -> str:
    """One capital letter for each bead."""
    beads, rest = _run(short)
    if rest:
        raise ValueError(f"left over: {rest!r}")
    return beads


def _run(text: str) -> tuple[str, str]:
    beads = ""
    while text and text[0] != ")":
        times, text = _number(text)
        if text[:1] == "(":
            group, text = _run(text[1:])
            if text[:1] != ")":
                raise ValueError("a group is not closed")
            if not group:
                raise ValueError("a group holds nothing")
            beads += group * times
        elif text[:1].isascii() and text[:1].isupper():
            beads += text[0] * times
        else:
            raise ValueError(f"no bead: {text!r}")
        text = text[1:]
    return beads, text


def _number(text: str) -> tuple[int, str]:
    """How often the next piece comes: once, if no number says otherwise."""
    found = NUMBER.match(text)
    if not found:
        return 1, text
    return int(found[0]), text[found.end() :]
