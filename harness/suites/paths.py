"""Names and paths as task files may write them."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", max_length=48)]
"""Lowercase words joined by hyphens: suites, tasks, groups, candidates, images."""

MAX_PATH_BYTES = 1024
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f\\]")


def check_relative(path: str) -> str:
    """Give *path* back if it is relative, normal, UTF-8 and free of control characters.

    Raises:
        ValueError: what is wrong with it.
    """
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise ValueError(f"path {path!r} is not UTF-8") from None
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise ValueError(f"path {path!r} should be relative, with no '.', '..' or doubled slash")
    if _FORBIDDEN.search(path):
        raise ValueError(f"path {path!r} holds a control character or a backslash")
    if size > MAX_PATH_BYTES:
        raise ValueError(f"path {path[:40]!r}... is longer than {MAX_PATH_BYTES} bytes")
    return path


RelativePath = Annotated[str, AfterValidator(check_relative)]
