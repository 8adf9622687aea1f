"""The progress of a run: attempts done, outcomes, joules, time left. A moving line on a terminal, else plain lines."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from harness.money import shown as dollars
from harness.outcomes import Outcome
from harness.progress import Finished, Progress
from harness.records import Cell
from harness.untrusted import clean_text
from trialbox import logs


@contextmanager
def shown() -> Iterator[Progress]:
    """The display that suits stderr, for the length of a run."""
    if sys.stderr.isatty() and os.environ.get(logs.VARIABLE) != "json":
        with _Live() as live:
            yield live
    else:
        yield _Plain()


@dataclass
class Tally:
    """What has been seen so far; guarded by whoever holds it."""

    total: int = 0
    done: int = 0
    before: int = 0
    """Cells that had ended before this process began."""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    joules_uj: int = 0
    unmetered: int = 0
    marked: bool = False
    spent: int | None = None
    """Picodollars by the gateway's meter; None while nothing that costs money has ended."""
    uncounted: int = 0
    """Tries whose cost is not known to the end: what is known of them is in ``spent``."""
    began: float = field(default_factory=time.monotonic)

    def planned(self, total: int, done: int) -> None:
        """The sweep begins."""
        self.total, self.done, self.before, self.began = total, done, done, time.monotonic()

    def finished(self, event: Finished) -> None:
        """A try has ended: its energy was spent whether or not the cell ended with it."""
        if event.energy_uj is None:
            self.unmetered += 1
        else:
            self.joules_uj += event.energy_uj
            self.marked = self.marked or not event.energy_reliable
        if event.spent is not None:
            self.spent = (self.spent or 0) + event.spent.at_least
            self.uncounted += event.spent.actual is None
        if event.terminal:
            self.done += 1
            self.outcomes[event.outcome] += 1

    @property
    def left_s(self) -> int | None:
        """Seconds until the end if it goes on like this; None before anything has ended."""
        here = self.done - self.before
        return round((time.monotonic() - self.began) / here * (self.total - self.done)) if here else None

    @property
    def joules(self) -> str:
        """Energy so far, with ``~`` and what is not in it."""
        text = f"{'~' if self.marked else ''}{self.joules_uj / 1e6:.1f} J"
        return text + (f" (+{self.unmetered} unmetered)" if self.unmetered else "")

    @property
    def dollars(self) -> str:
        """Money so far, as metered; empty where none is spent."""
        if self.spent is None:
            return ""
        return dollars(self.spent) + (f" (+{self.uncounted} not metered to the end)" if self.uncounted else "")

    @property
    def counts(self) -> str:
        """Outcome counts, in the order of the closed set."""
        return " ".join(f"{outcome.value} {self.outcomes[outcome]}" for outcome in Outcome if self.outcomes[outcome])


class _Plain:
    """One log line for each thing that happened."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._lock = threading.Lock()
        self._log = logs.logger()

    def note(self, line: str) -> None:
        self._log.info(clean_text(line))

    def planned(self, total: int, done: int) -> None:
        with self._lock:
            self._tally.planned(total, done)
        self._log.info("run begins", attempts=total, done=done)

    def started(self, cell: Cell, attempt_try: int) -> None:
        if attempt_try > 1:
            self._log.info("another try", cell=cell.key, attempt_try=attempt_try)

    def finished(self, event: Finished) -> None:
        with self._lock:
            self._tally.finished(event)
            tally = {
                "done": f"{self._tally.done}/{self._tally.total}",
                "counts": self._tally.counts,
                "joules": self._tally.joules,
                **({"spent": self._tally.dollars} if self._tally.dollars else {}),
                "left_s": self._tally.left_s,
            }
        reason = {"reason": clean_text(event.reason)} if event.reason else {}
        self._log.info("attempt ended", cell=event.cell.key, outcome=event.outcome.value, **tally, **reason)


class _Live:
    """A bar on the terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        self._tally = Tally()
        self._lock = threading.Lock()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
        )
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("preparing", total=None, facts="")

    def __enter__(self) -> _Live:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def note(self, line: str) -> None:
        self._bar.console.print(clean_text(line), markup=False, highlight=False)

    def planned(self, total: int, done: int) -> None:
        with self._lock:
            self._tally.planned(total, done)
        self._bar.update(self._task, description="attempts", total=total, completed=done)

    def started(self, cell: Cell, attempt_try: int) -> None:
        """Nothing to draw: the next end will."""

    def finished(self, event: Finished) -> None:
        with self._lock:
            self._tally.finished(event)
            left = "" if self._tally.left_s is None else f", {self._tally.left_s} s left"
            money = f", {self._tally.dollars}" if self._tally.dollars else ""
            facts = f"{self._tally.counts}, {self._tally.joules}{money}{left}"
            done = self._tally.done
        self._bar.update(self._task, completed=done, facts=facts)
