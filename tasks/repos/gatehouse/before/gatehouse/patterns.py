"""Patterns of paths."""

import re
from fnmatch import translate


class Pattern:
    """A pattern; *fold* if case doesn't count."""

    def __init__(self, text: str, *, fold: bool) -> None:
        self._regex = re.compile(translate(text.rstrip("/") or "/"), re.IGNORECASE if fold else 0)

    def fits(self, path: str) -> bool:
        """Whether a path in normal form fits."""
        return self._regex.match(path) is not None
