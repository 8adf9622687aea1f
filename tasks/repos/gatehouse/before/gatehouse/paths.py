"""Paths in their normal form."""

import posixpath


def normal(path: str) -> str | None:
    """The normal form of a path; None for what is no path at all."""
    if not path.startswith("/"):
        return None
    return posixpath.normpath(path)
