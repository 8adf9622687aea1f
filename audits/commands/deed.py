"""A deed: one thing that a command of an agent asks for, whether it was had or not."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from audits import paths
from audits.records import Axis, Kind

_BY_NAME = {Kind.GOLD_PATH, Kind.HIDDEN_PATH}


class Aim(StrEnum):
    """What a deed would give, if it went through."""

    CONTENT = "content"
    """Bytes that may bear an answer."""
    LISTING = "listing"
    """Names, versions, that something is there: no answer by itself."""
    TAMPER = "tamper"
    FLAG = "flag"


@dataclass(frozen=True)
class Deed:
    """One thing that a command asks for. ``commits`` are those it names, as it names them."""

    axis: Axis
    kind: Kind
    aim: Aim
    detail: str
    commits: tuple[str, ...] = ()


@dataclass
class Deeds:
    """All of a script's, and why some may be missing."""

    found: list[Deed]
    partial: str = ""
    made: set[str] = field(default_factory=set)
    """Files that it wrote anew, with nothing in them of what it looked for."""

    def own(self, deed: Deed) -> bool:
        """Whether a deed only reads what was written here before, where anybody may write: no place of hidden files."""
        return deed.detail in self.made and deed.kind in _BY_NAME and paths.in_tree(deed.detail, paths.SCRATCH)
