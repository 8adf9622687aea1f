"""The ledger's SQLite file: its schema, and its errors in our terms.

The schema holds the promises, so that no code path can break them: cells are planned before the run and never added or
removed later, a cell ends once, a try ends once, and a cell has at most one open try.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import StorageError
from harness.files import storage_error
from harness.outcomes import Outcome

APPLICATION_ID = 0x7462786C
VERSION = 1

_SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    plan_id TEXT NOT NULL,
    plan TEXT NOT NULL,
    options TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    sealed INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1)),
    card TEXT
) STRICT;

CREATE TABLE cells (
    run_id TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL,
    key TEXT NOT NULL,
    solver TEXT NOT NULL,
    task TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    outcome TEXT CHECK (outcome IN ({outcomes})),
    try INTEGER,
    PRIMARY KEY (run_id, key),
    UNIQUE (run_id, seq),
    CHECK ((outcome IS NULL) = (try IS NULL))
) STRICT;

CREATE TABLE tries (
    run_id TEXT NOT NULL,
    key TEXT NOT NULL,
    try INTEGER NOT NULL CHECK (try >= 1),
    state TEXT NOT NULL CHECK (state IN ('open', 'ended', 'abandoned')),
    started_us INTEGER NOT NULL,
    ended_us INTEGER,
    outcome TEXT CHECK (outcome IN ({outcomes})),
    record TEXT,
    PRIMARY KEY (run_id, key, try),
    FOREIGN KEY (run_id, key) REFERENCES cells (run_id, key),
    CHECK ((state = 'ended') = (outcome IS NOT NULL)),
    CHECK ((state = 'ended') = (record IS NOT NULL)),
    CHECK ((state = 'ended') = (ended_us IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX one_open_try ON tries (run_id, key) WHERE state = 'open';

CREATE TABLE interventions (
    run_id TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at_us INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TABLE cached (
    kind TEXT NOT NULL CHECK (kind IN ('baseline', 'seed', 'scan')),
    key TEXT NOT NULL,
    blob TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT;

CREATE TRIGGER plan_is_fixed BEFORE INSERT ON cells
WHEN (SELECT sealed FROM runs WHERE id = NEW.run_id) = 1
BEGIN SELECT RAISE(ABORT, 'the plan is fixed'); END;

CREATE TRIGGER cell_stays BEFORE DELETE ON cells
BEGIN SELECT RAISE(ABORT, 'a planned cell stays'); END;

CREATE TRIGGER cell_ends_once BEFORE UPDATE ON cells
WHEN OLD.outcome IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the cell has ended'); END;

CREATE TRIGGER no_try_after_the_end BEFORE INSERT ON tries
WHEN (SELECT outcome FROM cells WHERE run_id = NEW.run_id AND key = NEW.key) IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the cell has ended'); END;

CREATE TRIGGER try_ends_once BEFORE UPDATE ON tries
WHEN OLD.state <> 'open'
BEGIN SELECT RAISE(ABORT, 'the try has ended'); END;

CREATE TRIGGER try_stays BEFORE DELETE ON tries
BEGIN SELECT RAISE(ABORT, 'a try stays'); END;

PRAGMA application_id = {application_id};
PRAGMA user_version = {version};
"""

SCHEMA = _SCHEMA.format(
    outcomes=", ".join(f"'{outcome.value}'" for outcome in Outcome), application_id=APPLICATION_ID, version=VERSION
)


def open_file(path: Path) -> sqlite3.Connection:
    """A checked connection; the file is created if there is none.

    Raises:
        StorageError: the file is damaged, is no ledger, was written by a later version, or the disk refuses.
    """
    with sqlite_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            _set_up(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA journal_mode = WAL")
    # FULL, not NORMAL: in WAL mode NORMAL may forget the last commits at a power cut, and a cell that had ended would
    # be run again. One sync a transition is nothing beside an attempt.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _create_or_recognise(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    problems = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    if problems != ["ok"]:
        raise damaged(path, problems[0])


def _create_or_recognise(connection: sqlite3.Connection, path: Path) -> None:
    version, application = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("user_version", "application_id")
    )
    if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _statements(SCHEMA):
            connection.execute(statement)
    elif application != APPLICATION_ID:
        raise StorageError(str(path), "is not a trialbox ledger", "move it away, or point TRIALBOX_HOME elsewhere")
    elif version != VERSION:
        raise StorageError(str(path), f"has ledger version {version}, not {VERSION}", "use the trialbox that wrote it")


def _statements(script: str) -> Iterator[str]:
    """Single statements: ``executescript`` would end our transaction first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line with the remedy; a broken promise of the schema stays what it is."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.DatabaseError as error:
        raise _explained(path, error) from error
    except OSError as error:
        raise storage_error(path, error) from error


def _explained(path: Path, error: sqlite3.DatabaseError) -> StorageError:
    where = str(path)
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return StorageError(
                where, "the disk is full", "free some space (`trialbox gc` helps), then `trialbox run --resume latest`"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StorageError(where, "the ledger can't be written", "point TRIALBOX_HOME at a writable folder")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageError(where, "another process holds the ledger", "try again when it has ended")
        case sqlite3.SQLITE_IOERR:
            return StorageError(where, f"the disk refuses ({error})", "check the disk and its free space")
        case _:
            return damaged(path, str(error))


def damaged(path: Path, what: str) -> StorageError:
    """The line for a ledger that can't be trusted; cards and blobs do not depend on it."""
    line = " ".join(what.split())[:200]
    return StorageError(
        str(path),
        f"the ledger is damaged ({line})",
        "put back a copy, or move it away to start a new one (cards and blobs are untouched)",
    )
