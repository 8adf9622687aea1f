"""From the short form to single beads."""


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
            beads += group * times
        elif text[:1].isascii() and text[:1].isupper():
            beads += text[0] * times
        else:
            raise ValueError(f"no bead: {text!r}")
        text = text[1:]
    return beads, text


def _number(text: str) -> tuple[int, str]:
    if text[0].isdigit():
        return int(text[0]), text[1:]
    return 1, text
