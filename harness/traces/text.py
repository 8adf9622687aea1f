"""Paths as text and back, exactly."""

from __future__ import annotations

import re


def text_of(path: bytes) -> str:
    r"""A path as text: UTF-8, where a byte that is none is ``\xNN`` and a backslash is doubled."""
    return path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def bytes_of(text: str) -> bytes:
    """The path that :func:`text_of` was given."""
    return re.sub(
        rb"\\(\\|x[0-9a-f]{2})",
        lambda found: b"\\" if found[1] == b"\\" else bytes([int(found[1][1:], 16)]),
        text.encode(),
    )
