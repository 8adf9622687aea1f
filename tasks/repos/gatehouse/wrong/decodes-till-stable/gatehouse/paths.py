"""Paths in their normal form."""

import re

_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_NEVER = frozenset("/\\\0")
"""What no segment may hold once it is decoded."""


def normal(path: str) -> str | None:
    """The normal form of a path; None for what is no path at all, or leads out of the root."""
    if not path.startswith("/"):
        return None
    segments: list[str] = []
    for written in path.split("/"):
        segment = _decoded(written)
        if segment is None:
            return None
        if segment == "..":
            if not segments:
                return None
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/" + "/".join(segments)


def _decoded(written: str) -> str | None:
    """A segment with its escapes resolved, once."""
    raw = written.encode()
    if raw.count(b"%") != len(_ESCAPE.findall(raw)):
        return None
    try:
        segment = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), raw).decode()
    except UnicodeDecodeError:
        return None
    if _NEVER & set(segment):
        return None
    return segment if segment == written else _decoded(segment)
