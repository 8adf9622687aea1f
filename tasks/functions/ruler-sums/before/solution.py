"""Sums of lengths in feet and inches."""

import re

LENGTH = re.compile(r"""(?:([0-9]+)')?(?: ?([0-9]+)")?""")


def total(lengths):
    """The sum of lengths such as ``5' 3"``, written in the same way."""
    inches = 0
    for text in lengths:
        found = LENGTH.fullmatch(text)
        if not found or not text or text.startswith(" "):
            raise ValueError(f"not a length: {text!r}")
        feet, rest = found.groups(default="0")
        if found[1] and int(rest) >= 12:
            raise ValueError(f"twelve inches are a foot: {text!r}")
        inches += 12 * int(feet) + int(rest)
    parts = []
    if inches >= 12:
        parts.append(f"{inches // 12}'")
    if inches % 12 or not parts:
        parts.append(f'{inches % 12}"')
    return " ".join(parts)
