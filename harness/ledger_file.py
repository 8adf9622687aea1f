"""The ledger's SQLite file: its schema, and its errors in our terms.

The schema holds the promises, so that no code path can break them: cells are planned before the run and never added or
removed later, a cell ends once, a try ends once, a cell has at most one open try, and money that was reserved is
settled once and never forgotten. What it counts for (``charge``) is what the meter said, or else the reservation, or
the part that is known if that is more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from harness.errors import GO_ON, StorageError
from harness.files import storage_error
from harness.ledger_chain import adopt
from harness.outcomes import Outcome

APPLICATION_ID = 0x7462786C
VERSION = 4
_READABLE = {3, VERSION}
"""Versions whose runs and cells can be read where nothing may be written."""

_CACHED = """
CREATE TABLE cached (
    kind TEXT NOT NULL CHECK (kind IN ('baseline', 'seed', 'scan', 'admission')),
    key TEXT NOT NULL,
    blob TEXT NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT;
"""

_SPEND = """
CREATE TABLE spend (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    day TEXT NOT NULL CHECK (day GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'),
    purpose TEXT NOT NULL CHECK (purpose IN ('attempt', 'judge', 'maintenance')),
    worker TEXT NOT NULL,
    what TEXT NOT NULL,
    reserved INTEGER NOT NULL CHECK (reserved >= 0),
    state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'abandoned')),
    actual INTEGER CHECK (actual >= 0),
    at_least INTEGER CHECK (at_least >= 0),
    opened_us INTEGER NOT NULL,
    closed_us INTEGER,
    charge INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(actual, max(reserved, coalesce(at_least, 0)))) VIRTUAL,
    CHECK ((state = 'reserved') = (closed_us IS NULL)),
    CHECK ((state = 'settled') = (at_least IS NOT NULL)),
    CHECK (actual IS NULL OR at_least IS NOT NULL)
) STRICT;

CREATE INDEX spend_of_a_day ON spend (day);

CREATE TRIGGER spend_stays BEFORE DELETE ON spend
BEGIN SELECT RAISE(ABORT, 'money that was reserved stays on record'); END;

CREATE TRIGGER spend_settles_once BEFORE UPDATE ON spend
WHEN OLD.state <> 'reserved' OR NEW.reserved <> OLD.reserved OR NEW.day <> OLD.day OR NEW.worker <> OLD.worker
BEGIN SELECT RAISE(ABORT, 'a reservation is settled once'); END;
"""

_CHAIN = """
CREATE TABLE chain (
    run_id TEXT NOT NULL REFERENCES runs (id),
    seq INTEGER NOT NULL CHECK (seq >= 1),
    event TEXT NOT NULL,
    prev TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TABLE published (
    seq INTEGER PRIMARY KEY,
    card TEXT NOT NULL,
    entry TEXT NOT NULL,
    at_us INTEGER NOT NULL
) STRICT;

CREATE TRIGGER chain_stays BEFORE DELETE ON chain
BEGIN SELECT RAISE(ABORT, 'what happened stays on record'); END;

CREATE TRIGGER chain_is_fixed BEFORE UPDATE ON chain
BEGIN SELECT RAISE(ABORT, 'what happened stays as it was written'); END;

CREATE TRIGGER published_stays BEFORE DELETE ON published
BEGIN SELECT RAISE(ABORT, 'what was published stays on record'); END;

CREATE TRIGGER published_is_fixed BEFORE UPDATE ON published
BEGIN SELECT RAISE(ABORT, 'what was published stays as it was written'); END;
"""

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

{cached}
{spend}
{chain}
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
    outcomes=", ".join(f"'{outcome.value}'" for outcome in Outcome),
    cached=_CACHED,
    spend=_SPEND,
    chain=_CHAIN,
    application_id=APPLICATION_ID,
    version=VERSION,
)

_FROM_VERSION_3 = f"{_CHAIN}PRAGMA user_version = {VERSION};"
"""A ledger of version 3 had no chain of what happened; what it holds is taken over as it is."""
_FROM_VERSION_2 = f"{_SPEND}{_FROM_VERSION_3}"
"""A ledger of version 2 knew nothing of money."""
_FROM_VERSION_1 = f"DROP TABLE cached;{_CACHED}{_FROM_VERSION_2}"
"""A ledger of version 1 knew fewer kinds of cached results; what it remembered can be had again."""
_MIGRATIONS = {1: _FROM_VERSION_1, 2: _FROM_VERSION_2, 3: _FROM_VERSION_3}


def open_file(path: Path) -> sqlite3.Connection:
    """A checked connection; the file is created if there is none.

    Raises:
        StorageError: the file is damaged, is no ledger, was written by a later version, or the disk refuses.
    """
    with sqlite_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # One without a byte beside cards lost its content: as a new one it would have `gc` take all blobs for stray.
        if path.exists() and not path.stat().st_size and any(path.parent.glob("cards/*.json")):
            raise damaged(path, "it is empty, and there are cards beside it")
        connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            _set_up(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """A connection to a ledger on a disk that can't be written, where so no other process writes either.

    Raises:
        StorageError: the file is damaged or is no ledger of this version.
    """
    with sqlite_errors(path):
        address = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        try:
            _recognise(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what can't be read as it is."""
    version, application = _numbers(connection)
    if application != APPLICATION_ID or version not in _READABLE:
        raise StorageError(
            str(path), f"is no ledger of version {VERSION}", "use the trialbox that wrote it, or a writable folder"
        )


def _numbers(connection: sqlite3.Connection) -> tuple[int, int]:
    version, application = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("user_version", "application_id")
    )
    return version, application


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
    version, application = _numbers(connection)
    if version == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _statements(SCHEMA):
            connection.execute(statement)
    elif application != APPLICATION_ID:
        raise StorageError(str(path), "is not a trialbox ledger", "move it away, or point TRIALBOX_HOME elsewhere")
    elif version in _MIGRATIONS:
        for statement in _statements(_MIGRATIONS[version]):
            connection.execute(statement)
        for (run_id,) in connection.execute("SELECT id FROM runs").fetchall():
            adopt(connection, run_id)
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
                where, "the disk is full", f"free some space (`trialbox gc` may help) or use a larger disk, and {GO_ON}"
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
