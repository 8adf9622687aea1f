"""Which attempts a run planned, and how each ended. Every change is one transaction: it has happened or it has not."""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from harness import ledger_file
from harness.digest import canonical, loads
from harness.errors import UserError, VerifyError
from harness.ledger_chain import Happening, append, check
from harness.outcomes import Outcome
from harness.records import BlobRef, Cell, Microseconds, Plan, R, Record, from_json, to_json

_CLOCK_SLACK_US = 60_000_000
"""A clock may be corrected by so much without anybody's doing."""


class TryState(StrEnum):
    """Where one try of a cell stands."""

    OPEN = "open"
    ENDED = "ended"
    ABANDONED = "abandoned"
    """Its process died; what it used is not known, and it stays on record."""


class Try(Record):
    """One try of a cell. ``outcome``, ``record`` and ``ended_us`` are None unless it ended."""

    cell: Cell
    attempt_try: int
    state: TryState
    started_us: Microseconds
    ended_us: Microseconds | None
    outcome: Outcome | None
    record: BlobRef | None


class InterventionKind(StrEnum):
    """What an operator did to a run after it began."""

    RESUME = "resume"
    """A run went on after its process had died or had been stopped."""
    RERUN = "rerun"
    """A plan was run again, though this ledger knew runs of it."""
    EXCLUSION = "exclusion"
    """Tasks of the suite were left out."""
    LIMIT_CHANGE = "limit_change"
    """A limit of the run itself (attempts at once, the daily cap) is another one than it began with."""
    JUDGE_RETRY = "judge_retry"
    """A judge was asked again."""


class Intervention(Record):
    """One thing an operator did, in order."""

    kind: InterventionKind
    at_us: Microseconds
    detail: str


class Ended(Record):
    """How a cell ended, and the record of the try that ended it."""

    outcome: Outcome
    record: BlobRef


class CacheKind(StrEnum):
    """What is kept from one run to the next."""

    BASELINE = "baseline"
    """A task's baseline grading, by score hash and image id."""
    SEED = "seed"
    """A seed archive, by whatever determines it."""
    SCAN = "scan"
    """What the scanner said of one file's content."""
    ADMISSION = "admission"
    """What admission found out about a task, by its hashes, its images and the rules."""


@dataclass(frozen=True)
class Run:
    """One run: its plan, its options, and the card it led to (None while there is none)."""

    id: str
    plan: Plan
    options: Mapping[str, Any]
    created_us: int
    card: str | None
    cells: int
    ended: int


class Ledger:
    """The ledger of one state folder. Safe to share between threads.

    Every method raises StorageError when the file or the disk fails.
    """

    def __init__(self, path: Path, *, reading: bool = False) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection = ledger_file.open_for_reading(path) if reading else ledger_file.open_file(path)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------- a run's life

    def create_run(self, plan: Plan, options: Mapping[str, Any]) -> str:
        """Write the plan down, cell by cell, before anything is dispatched; the new run's id.

        Raises:
            UserError: the clock stands before something that has happened.
        """
        run_id = secrets.token_hex(6)
        with self.change() as db:
            _refuse_clock(db, self._path)
            db.execute(
                "INSERT INTO runs (id, plan_id, plan, options, created_us) VALUES (?, ?, ?, ?, ?)",
                (run_id, plan.id, to_json(plan).decode(), canonical(dict(options)).decode(), _now_us()),
            )
            db.executemany(
                "INSERT INTO cells (run_id, seq, key, solver, task, attempt) VALUES (?, ?, ?, ?, ?, ?)",
                [(run_id, n, c.key, c.solver, c.task, c.attempt) for n, c in enumerate(plan.cells())],
            )
            db.execute("UPDATE runs SET sealed = 1 WHERE id = ?", (run_id,))
            append(db, run_id, Happening.PLAN)
            before = db.execute("SELECT count(*) FROM runs WHERE plan_id = ? AND id <> ?", (plan.id, run_id)).fetchone()
            if before[0]:
                _intervene(db, run_id, InterventionKind.RERUN, f"run {before[0] + 1} of this plan here")
        return run_id

    def intervene(self, run_id: str, kind: InterventionKind, detail: str) -> None:
        """Write down what an operator did to a run."""
        with self.change() as db:
            _intervene(db, run_id, kind, detail)

    def start_try(self, run_id: str, cell: Cell) -> int:
        """Begin the next try of a cell; its number, from 1.

        Raises:
            sqlite3.IntegrityError: the cell is not planned, has ended, or has an open try.
        """
        with self.change() as db:
            row = db.execute(
                "SELECT coalesce(max(try), 0) + 1 FROM tries WHERE run_id = ? AND key = ?", (run_id, cell.key)
            ).fetchone()
            db.execute(
                "INSERT INTO tries (run_id, key, try, state, started_us) VALUES (?, ?, ?, 'open', ?)",
                (run_id, cell.key, row[0], _now_us()),
            )
            append(db, run_id, Happening.START, cell.key, int(row[0]))
        return int(row[0])

    def finish(
        self, run_id: str, cell: Cell, attempt_try: int, outcome: Outcome, record: BlobRef, *, terminal: bool
    ) -> None:
        """End an open try; with *terminal* its cell ends with it, for good.

        Raises:
            sqlite3.IntegrityError: the try is not open, or the cell has ended.
        """
        with self.change() as db:
            ended = db.execute(
                "UPDATE tries SET state = 'ended', ended_us = max(?, started_us), outcome = ?, record = ?"
                " WHERE run_id = ? AND key = ? AND try = ?",
                (_now_us(), outcome.value, to_json(record).decode(), run_id, cell.key, attempt_try),
            )
            if ended.rowcount != 1:
                raise sqlite3.IntegrityError(f"{cell.key} has no try {attempt_try}")
            if terminal:
                db.execute(
                    "UPDATE cells SET outcome = ?, try = ? WHERE run_id = ? AND key = ?",
                    (outcome.value, attempt_try, run_id, cell.key),
                )
            append(db, run_id, Happening.END, cell.key, attempt_try)

    def resume(self, run_id: str, detail: str = "") -> int:
        """Mark the tries of a dead process as abandoned and write the intervention down; how many there were.

        The caller holds the state folder's lock, so no process of this folder is running any of them.

        Raises:
            UserError: the clock stands before something that has happened.
        """
        with self.change() as db:
            _refuse_clock(db, self._path)
            found = db.execute("SELECT key, try FROM tries WHERE run_id = ? AND state = 'open'", (run_id,)).fetchall()
            db.execute("UPDATE tries SET state = 'abandoned' WHERE run_id = ? AND state = 'open'", (run_id,))
            for key, attempt_try in found:
                append(db, run_id, Happening.ABANDON, key, attempt_try)
            text = f"{len(found)} abandoned" + (f"; {detail}" if detail else "")
            _intervene(db, run_id, InterventionKind.RESUME, text)
        return len(found)

    def set_card(self, run_id: str, card: str) -> None:
        """Note the card that a run led to."""
        with self.change() as db:
            db.execute("UPDATE runs SET card = ? WHERE id = ?", (card, run_id))
            append(db, run_id, Happening.CARD)

    def set_published(self, seq: int, card: str, entry: str) -> None:
        """Note an entry of the index of published cards: its place from 0, its card and its digest."""
        with self.change() as db:
            db.execute(
                "INSERT INTO published (seq, card, entry, at_us) VALUES (?, ?, ?, ?)", (seq, card, entry, _now_us())
            )

    # ------------------------------------------------------------------------------------------------ what is known

    def pending(self, run_id: str) -> tuple[Cell, ...]:
        """The cells that have not ended, in planned order."""
        rows = self.rows(
            "SELECT solver, task, attempt FROM cells WHERE run_id = ? AND outcome IS NULL ORDER BY seq", run_id
        )
        return tuple(_cell(*row) for row in rows)

    def results(self, run_id: str) -> dict[Cell, Ended]:
        """How each cell that ended did, in planned order."""
        rows = self.rows(
            "SELECT c.solver, c.task, c.attempt, c.outcome, t.record FROM cells c"
            " JOIN tries t ON t.run_id = c.run_id AND t.key = c.key AND t.try = c.try"
            " WHERE c.run_id = ? ORDER BY c.seq",
            run_id,
        )
        return {_cell(*row[:3]): Ended(outcome=Outcome(row[3]), record=self._blob(row[4])) for row in rows}

    def tries(self, run_id: str) -> tuple[Try, ...]:
        """Every try of every cell, in planned order."""
        rows = self.rows(
            "SELECT c.solver, c.task, c.attempt, t.try, t.state, t.started_us, t.ended_us, t.outcome, t.record"
            " FROM tries t JOIN cells c ON t.run_id = c.run_id AND t.key = c.key WHERE t.run_id = ?"
            " ORDER BY c.seq, t.try",
            run_id,
        )
        return tuple(
            Try(
                cell=_cell(*row[:3]),
                attempt_try=row[3],
                state=TryState(row[4]),
                started_us=row[5],
                ended_us=row[6],
                outcome=Outcome(row[7]) if row[7] else None,
                record=self._blob(row[8]) if row[8] else None,
            )
            for row in rows
        )

    def interventions(self, run_id: str) -> tuple[Intervention, ...]:
        """What operators did to a run, in order."""
        rows = self.rows("SELECT kind, at_us, detail FROM interventions WHERE run_id = ? ORDER BY seq", run_id)
        return tuple(Intervention(kind=InterventionKind(row[0]), at_us=row[1], detail=row[2]) for row in rows)

    def runs(self) -> tuple[Run, ...]:
        """Every run, oldest first."""
        rows = self.rows(
            "SELECT id, plan, options, created_us, card, (SELECT count(*) FROM cells WHERE run_id = id),"
            " (SELECT count(outcome) FROM cells WHERE run_id = id), plan_id FROM runs ORDER BY created_us, rowid"
        )
        return tuple(Run(row[0], self._plan(row[1], row[7]), loads(row[2]), *row[3:7]) for row in rows)

    def _plan(self, text: str, plan_id: str) -> Plan:
        plan = self._read(Plan, text)
        if plan.id != plan_id:
            raise ledger_file.damaged(self._path, f"a plan is not the one that was written down as {plan_id[:19]}")
        return plan

    def run(self, name: str) -> Run:
        """The run of that id, or of ``latest``.

        Raises:
            UserError: there is none.
        """
        runs = self.runs()
        found = runs[-1:] if name == "latest" else [run for run in runs if run.id == name]
        if not found:
            known = ", ".join(run.id for run in runs[-5:]) or "none"
            raise UserError(f"run {name}", "is not in this state folder", f"the last ones are: {known}")
        return found[0]

    def check(self, run_id: str) -> str:
        """Hold a run's plan, tries and interventions against the chain of what happened; the chain's last digest.

        Raises:
            StorageError: a link is broken, or the ledger says something else than its chain.
        """
        with self._lock, ledger_file.sqlite_errors(self._path):
            head, problem = check(self._connection, run_id)
        if problem is not None:
            raise ledger_file.damaged(self._path, f"run {run_id}: {problem}")
        return head

    def published(self) -> dict[int, str]:
        """The digests of the index's entries, by their places."""
        return dict(self.rows("SELECT seq, entry FROM published ORDER BY seq"))

    def runs_known(self, plan_id: str) -> int:
        """How many runs of a plan this ledger knows."""
        return int(next(self.rows("SELECT count(*) FROM runs WHERE plan_id = ?", plan_id))[0])

    # --------------------------------------------------------------------------------------------------- the caches

    def cached(self, kind: CacheKind, key: str) -> BlobRef | None:
        """A kept result; the caller still checks that the store has it whole."""
        row = next(self.rows("SELECT blob FROM cached WHERE kind = ? AND key = ?", kind.value, key), None)
        return self._blob(row[0]) if row else None

    def keep(self, kind: CacheKind, key: str, blob: BlobRef) -> None:
        """Keep a result for later runs."""
        with self.change() as db:
            db.execute(
                "INSERT OR REPLACE INTO cached (kind, key, blob) VALUES (?, ?, ?)",
                (kind.value, key, to_json(blob).decode()),
            )

    def forget(self) -> int:
        """Empty the caches; how many entries there were."""
        with self.change() as db:
            return db.execute("DELETE FROM cached").rowcount

    # ----------------------------------------------------------------------------------------------------- plumbing

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """One transaction, for a module that keeps a table of its own here: all of it happens, or nothing."""
        with self._lock, ledger_file.sqlite_errors(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, sql: str, *values: object) -> Iterator[Any]:
        """What a query finds, in tuples."""
        with self._lock, ledger_file.sqlite_errors(self._path):
            rows = self._connection.execute(sql, values).fetchall()
        return iter(rows)

    def _blob(self, text: str) -> BlobRef:
        return self._read(BlobRef, text)

    def _read(self, kind: type[R], text: str) -> R:
        try:
            return from_json(kind, text.encode())
        except VerifyError as error:
            raise ledger_file.damaged(self._path, error.problem) from error


def _intervene(db: sqlite3.Connection, run_id: str, kind: InterventionKind, detail: str) -> None:
    db.execute(
        "INSERT INTO interventions (run_id, seq, kind, at_us, detail)"
        " SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ? FROM interventions WHERE run_id = ?",
        (run_id, kind.value, _now_us(), detail, run_id),
    )
    append(db, run_id, Happening.INTERVENTION)


def _refuse_clock(db: sqlite3.Connection, path: Path) -> None:
    """A run that begins or goes on before what has happened would be told in the wrong order for ever."""
    times = db.execute(
        "SELECT max((SELECT coalesce(max(created_us), 0) FROM runs),"
        " (SELECT coalesce(max(max(started_us), coalesce(max(ended_us), 0)), 0) FROM tries),"
        " (SELECT coalesce(max(at_us), 0) FROM interventions))"
    ).fetchone()
    if _now_us() < times[0] - _CLOCK_SLACK_US:
        raise UserError("the clock", f"stands before what {path} says has happened", "set it right")


def _cell(solver: str, task: str, attempt: int) -> Cell:
    return Cell(solver=solver, task=task, attempt=attempt)


def _now_us() -> int:
    return time.time_ns() // 1000
