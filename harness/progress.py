"""What a sweep tells whoever watches it: events, so that the sweep knows nothing of terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from harness.outcomes import Outcome
from harness.records import Cell
from harness.spend_book import Spent


@dataclass(frozen=True)
class Finished:
    """One try has ended.

    ``terminal`` says that the cell has, too; otherwise another try follows. ``energy_uj`` is the solver's active energy
    and None where there is no figure; ``energy_reliable`` is false for a ``~`` figure. ``wall_us`` is the whole try's.
    ``spent`` is what it cost by the gateway's meter, None where nothing is paid by the token.
    """

    cell: Cell
    attempt_try: int
    outcome: Outcome
    terminal: bool
    energy_uj: int | None
    energy_reliable: bool
    wall_us: int
    reason: str = ""
    spent: Spent | None = None


class Progress(Protocol):
    """Told from any thread, in any order but this one a cell: started, then finished. No method may raise."""

    def note(self, line: str) -> None:
        """Something slow is under way, in one line: an image is built, an engine starts."""

    def planned(self, total: int, done: int) -> None:
        """The sweep begins: *total* cells are planned, of which *done* had ended before (a resumed run)."""

    def started(self, cell: Cell, attempt_try: int) -> None:
        """A try of a cell has begun."""

    def finished(self, event: Finished) -> None:
        """A try of a cell has ended."""


class Silent:
    """Watches nothing."""

    def note(self, line: str) -> None:
        """Ignored."""

    def planned(self, total: int, done: int) -> None:
        """Ignored."""

    def started(self, cell: Cell, attempt_try: int) -> None:
        """Ignored."""

    def finished(self, event: Finished) -> None:
        """Ignored."""
