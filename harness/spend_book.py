"""What was spent and what is reserved, day by day, in the ledger: one cap for every caller who costs money.

Amounts are whole picodollars, days are UTC. A reservation is an estimate, a settled amount is the gateway's meter's:
they are counted together against the cap and never shown as one. What a killed process had reserved stays charged,
since nobody knows what it spent.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from harness.errors import GateError
from harness.ledger import Ledger
from harness.money import shown

HISTORY = 50
"""Finished dispatches of one worker that an estimate looks back on."""


class Purpose(StrEnum):
    """What money is spent on."""

    ATTEMPT = "attempt"
    JUDGE = "judge"
    MAINTENANCE = "maintenance"


class CapReached(GateError):
    """The day's cap leaves no room for another dispatch."""


@dataclass(frozen=True)
class Spent:
    """What one dispatch cost by the gateway's meter, in picodollars.

    ``actual`` is None where it is not known to the end; ``at_least`` then is what the cap counts if its reservation is
    less.
    """

    actual: int | None
    at_least: int

    def __post_init__(self) -> None:
        if self.actual is not None and self.actual != self.at_least:
            raise ValueError("what is known exactly is at least itself")


def exactly(pusd: int) -> Spent:
    """A cost that is known."""
    return Spent(pusd, pusd)


@dataclass(frozen=True)
class Day:
    """One day's account, in picodollars; the parts are disjoint, and ``charged`` is their sum."""

    day: str
    metered: int
    """Settled by the meter."""
    uncertain: int
    """Settled, but not known to the end: charged at the reservation."""
    held: int
    """Reserved for what is under way."""
    abandoned: int
    """Reserved by processes that died."""

    @property
    def charged(self) -> int:
        """What counts against the cap."""
        return self.metered + self.uncertain + self.held + self.abandoned


class SpendBook:
    """The account of one state folder. Safe for many threads, and for many processes on one ledger.

    Every method raises StorageError when the file or the disk fails.
    """

    def __init__(self, ledger: Ledger, cap: int, now: Callable[[], float] = time.time) -> None:
        self._ledger = ledger
        self._now = now
        self.cap = cap

    def reserve(self, purpose: Purpose, worker: str, what: str, amount: int) -> int:
        """Set an amount aside before a dispatch; the reservation's number.

        Args:
            purpose: what it is for.
            worker: whose history it will be part of.
            what: the dispatch itself, for a reader.
            amount: the estimate, in picodollars.

        Raises:
            CapReached: the day's cap has no room for it; nothing was reserved.
        """
        with self._ledger.change() as db:
            day = self._today()
            charged = db.execute("SELECT coalesce(sum(charge), 0) FROM spend WHERE day = ?", (day,)).fetchone()[0]
            if charged + amount > self.cap:
                so_far = f"{shown(charged)} spent or held on {day}"
                raise CapReached(
                    "daily cap",
                    f"{shown(self.cap)} leaves no room for {shown(amount, 3)} ({so_far})",
                    "go on tomorrow (UTC), or raise [spend] daily_cap_usd in config.toml",
                )
            row = db.execute(
                "INSERT INTO spend (day, purpose, worker, what, reserved, state, opened_us)"
                " VALUES (?, ?, ?, ?, ?, 'reserved', ?) RETURNING id",
                (day, purpose.value, worker, what, amount, self._us()),
            ).fetchone()
        return int(row[0])

    def settle(self, number: int, spent: Spent) -> None:
        """Put what the meter says in the place of a reservation, once.

        Raises:
            sqlite3.IntegrityError: it is not open.
        """
        with self._ledger.change() as db:
            db.execute(
                "UPDATE spend SET state = 'settled', actual = ?, at_least = ?, closed_us = ? WHERE id = ?",
                (spent.actual, spent.at_least, self._us(), number),
            )

    def abandon(self) -> int:
        """Close what dead processes left open, at what they had reserved; how many there were.

        The caller holds the state folder's lock, so no process of this folder has anything under way.
        """
        with self._ledger.change() as db:
            return db.execute(
                "UPDATE spend SET state = 'abandoned', closed_us = ? WHERE state = 'reserved'", (self._us(),)
            ).rowcount

    def day(self, day: str | None = None) -> Day:
        """The account of a day, by default of today."""
        wanted = day or self._today()
        rows = self._ledger.rows(
            "SELECT state, actual IS NULL, sum(charge) FROM spend WHERE day = ? GROUP BY 1, 2", wanted
        )
        sums = {(row[0], bool(row[1])): int(row[2]) for row in rows}
        return Day(
            day=wanted,
            metered=sums.get(("settled", False), 0),
            uncertain=sums.get(("settled", True), 0),
            held=sums.get(("reserved", True), 0),
            abandoned=sums.get(("abandoned", True), 0),
        )

    def history(self, purpose: Purpose, worker: str) -> tuple[int, ...]:
        """What a worker's last finished dispatches cost, where that is known to the end; the latest first."""
        rows = self._ledger.rows(
            "SELECT actual FROM spend WHERE purpose = ? AND worker = ? AND actual IS NOT NULL ORDER BY id DESC LIMIT ?",
            purpose.value,
            worker,
            HISTORY,
        )
        return tuple(int(row[0]) for row in rows)

    def _today(self) -> str:
        return datetime.fromtimestamp(self._now(), UTC).strftime("%Y-%m-%d")

    def _us(self) -> int:
        return int(self._now() * 1_000_000)
