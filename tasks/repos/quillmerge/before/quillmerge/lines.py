"""Texts as lists of lines, and back."""

import re

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


def split(text: str) -> list[str]:
    """The lines of a text with their endings."""
    return _LINE.findall(text)


def join(lines: list[str]) -> str:
    """A text from its lines."""
    return "".join(lines)
