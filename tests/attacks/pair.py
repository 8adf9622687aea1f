"""What an attack is made of: what is tried, its honest control, and the verdict in which each must end."""

from __future__ import annotations

import importlib
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tests.attacks import rows

if TYPE_CHECKING:
    from tests.attacks.workshop import Workshop

_FILE = re.compile(r"(at|ca|gr|rs|sc|rp)_(\d\d)([a-z]?)_[a-z0-9_]+")


def code(text: str, *then: str) -> str:
    """A file's text as it stands indented in a row, and what follows it."""
    return textwrap.dedent(text).strip("\n") + "\n" + "".join(then)


class Stage(StrEnum):
    """Where an attack bites, in the order of an attempt's life."""

    ATTEMPT = "attempt"
    CAPTURE = "capture"
    GRADE = "grade"
    SCORE = "score"
    REPORT = "report"


@dataclass(frozen=True)
class Solve:
    """A whole attempt in a sealed container. ``task`` is one of the workshop's, ``limits`` change its limits.

    ``before`` is another attempt's script, run first. What the script prints after ``LOOT`` it should not have got.
    """

    script: str
    task: str = "cases"
    limits: Mapping[str, int] | None = None
    before: str | None = None


@dataclass(frozen=True)
class Patch:
    """Files over a task's tree (None: deleted), or a diff as it is, graded as a patch that was made elsewhere."""

    files: Mapping[str, str | None] | None = None
    task: str = "pytest"
    diff: bytes | None = None


@dataclass(frozen=True)
class Pure:
    """Something that needs no container: given an empty folder, it gives what was noticed."""

    work: Callable[[Path], Iterable[str]]


@dataclass(frozen=True)
class Engine:
    """Something that needs the engine and is no single attempt."""

    work: Callable[[Workshop], Iterable[str]]


Deed: TypeAlias = Solve | Patch | Pure | Engine


@dataclass(frozen=True)
class Pair:
    """One attack with its control.

    ``verdict`` are facts that must all be noticed of the attack, each as the beginning of one; the first is the named
    verdict. ``honest`` says what the control does; of it, ``control_ends`` must be noticed and nothing that raises an
    alarm. ``traced`` names what is noticed only where this machine may trace: elsewhere ``untraced`` is noticed
    instead. ``never`` are facts that must not be noticed of the attack, besides loot.
    """

    stage: Stage
    attack: Deed
    verdict: tuple[str, ...]
    honest: str
    control: Deed
    control_ends: str = "solved"
    traced: tuple[str, ...] = ()
    untraced: str = "filesystem: unverifiable"
    never: tuple[str, ...] = ()
    remains: str = ""
    """What an attacker still could do here."""
    passes: bool = False
    """Whether the attack gets what it is after: ``remains`` says why, and ``verdict`` by what a reader knows."""


@dataclass(frozen=True)
class Row:
    """A pair with its name: ``id`` is the catalogue's, with a letter where it has several probes."""

    id: str
    mechanism: str
    pair: Pair

    @property
    def catalogue(self) -> str:
        """The catalogue's own id."""
        return self.id[:5]


@cache
def all_rows() -> tuple[Row, ...]:
    """Every row, in the order of the stages and of the ids."""
    found = [_row(one.name) for one in pkgutil.iter_modules(rows.__path__)]
    return tuple(sorted(found, key=lambda row: (list(Stage).index(row.pair.stage), row.id)))


def _row(name: str) -> Row:
    match = _FILE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name}: a row's file is called like gr_20b_words.py")
    module = importlib.import_module(f"{rows.__name__}.{name}")
    pair = module.PAIR
    if not isinstance(pair, Pair) or not module.__doc__:
        raise TypeError(f"{name}: a row has a docstring, its mechanism, and a Pair")
    return Row(f"{match[1].upper()}-{match[2]}{match[3]}", " ".join(module.__doc__.split()).rstrip("."), pair)
