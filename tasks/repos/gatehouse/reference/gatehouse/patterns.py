"""Patterns of paths."""

import re

_ANY = {"*": "[^/]*", "?": "[^/]"}


class Pattern:
    """A pattern; *fold* if case doesn't count."""

    def __init__(self, text: str, *, fold: bool) -> None:
        segments = [segment for segment in text.split("/") if segment]
        regex = "".join("(?:/[^/]+)*" if segment == "**" else "/" + _translated(segment) for segment in segments)
        self._regex = re.compile(regex, re.IGNORECASE if fold else 0)
        self._root = all(segment == "**" for segment in segments)

    def fits(self, path: str) -> bool:
        """Whether a path in normal form fits."""
        return (path == "/" and self._root) or self._regex.fullmatch(path) is not None


def _translated(segment: str) -> str:
    return "".join(_ANY.get(character) or re.escape(character) for character in segment)
