"""The surroundings of a grading: always the same ones, but for the gradings that show whether they matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.engine.spec import BindMount

ENVIRONMENT: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108 - the container's own
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""What every program of a grading sees on top of the image's own: nothing that differs between two gradings."""


@dataclass(frozen=True)
class Conditions:
    """``env`` is what every program sees, ``binds`` are host files that it needs.

    ``closed``: calls of ``cases`` and ``operations`` can open no file and no socket and start no thread or process once
    their target is imported; the kernel refuses.
    """

    env: Mapping[str, str]
    binds: tuple[BindMount, ...] = ()
    closed: bool = False


USUAL = Conditions(ENVIRONMENT)
"""Those of every attempt."""
