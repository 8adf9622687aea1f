"""What happened to a run, in order, each entry with the digest of the one before: a change of the ledger shows.

An entry says what a row became. Played back, the entries give every row of the run's plan, tries and interventions,
and :func:`check` holds the rows against that. Somebody who rewrites rows and chain together is found by the card, which
carries the chain's last digest.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from harness.digest import canonical, digest, loads, sha256_bytes

GENESIS = sha256_bytes(b"trialbox ledger v1")


class Happening(StrEnum):
    """What an entry is of."""

    PLAN = "plan"
    START = "start"
    END = "end"
    ABANDON = "abandon"
    INTERVENTION = "intervention"
    CARD = "card"
    ADOPTION = "adoption"
    """The run is older than the chain: all that was known of it, as it was found."""


_RUN = "SELECT plan_id, plan, options, created_us FROM runs WHERE id = ?"
_CELLS = "SELECT key FROM cells WHERE run_id = ? ORDER BY seq"
_TRIES = "SELECT key, try, state, started_us, ended_us, outcome, record FROM tries WHERE run_id = ?"
_ENDS = "SELECT key, outcome, try FROM cells WHERE run_id = ? AND outcome IS NOT NULL"
_INTERVENTIONS = "SELECT seq, kind, at_us, detail FROM interventions WHERE run_id = ? ORDER BY seq"


def append(db: sqlite3.Connection, run_id: str, happening: Happening, key: str = "", attempt_try: int = 0) -> None:
    """Add what has just happened, in the transaction in which it does.

    Args:
        key: the cell, for a try's happenings.
        attempt_try: the try.
    """
    last = db.execute("SELECT seq, digest FROM chain WHERE run_id = ? ORDER BY seq DESC LIMIT 1", (run_id,)).fetchone()
    seq, prev = last or (0, GENESIS)
    event = {"kind": happening.value, **_said(db, run_id, happening, key, attempt_try)}
    db.execute(
        "INSERT INTO chain (run_id, seq, event, prev, digest) VALUES (?, ?, ?, ?, ?)",
        (run_id, seq + 1, canonical(event).decode(), prev, _link(run_id, seq + 1, event, prev)),
    )


def adopt(db: sqlite3.Connection, run_id: str) -> None:
    """Begin the chain of a run that is older than chains."""
    append(db, run_id, Happening.ADOPTION)


def _link(run_id: str, seq: int, event: Any, prev: str) -> str:
    return digest({"run": run_id, "seq": seq, "event": event, "prev": prev})


def _said(db: sqlite3.Connection, run_id: str, happening: Happening, key: str, attempt_try: int) -> dict[str, Any]:
    match happening:
        case Happening.PLAN:
            return {"run": _plan(db, run_id)}
        case Happening.START | Happening.END | Happening.ABANDON:
            row = db.execute(f"{_TRIES} AND key = ? AND try = ?", (run_id, key, attempt_try)).fetchone()
            end = db.execute(f"{_ENDS} AND key = ? AND try = ?", (run_id, key, attempt_try)).fetchone()
            return {"try": list(row), "ends": end is not None}
        case Happening.INTERVENTION:
            return {"intervention": list(db.execute(_INTERVENTIONS, (run_id,)).fetchall()[-1])}
        case Happening.CARD:
            return {"card": db.execute("SELECT card FROM runs WHERE id = ?", (run_id,)).fetchone()[0]}
        case Happening.ADOPTION:
            return {"state": _found(db, run_id)}


def _plan(db: sqlite3.Connection, run_id: str) -> list[Any]:
    """The plan's id, and digests of what it was, what was asked for, and which cells were planned."""
    plan_id, plan, options, created_us = db.execute(_RUN, (run_id,)).fetchone()
    cells = [row[0] for row in db.execute(_CELLS, (run_id,))]
    return [plan_id, sha256_bytes(plan.encode()), sha256_bytes(options.encode()), digest(cells), created_us]


# --------------------------------------------------------------------------------------------------------------- check


def _found(db: sqlite3.Connection, run_id: str) -> dict[str, Any]:
    """All of a run that the chain is of, as its rows have it."""
    return {
        "run": _plan(db, run_id),
        "tries": sorted(list(row) for row in db.execute(_TRIES, (run_id,))),
        "ends": sorted([row[0], row[1], row[2]] for row in db.execute(_ENDS, (run_id,))),
        "interventions": [list(row) for row in db.execute(_INTERVENTIONS, (run_id,))],
        "card": db.execute("SELECT card FROM runs WHERE id = ?", (run_id,)).fetchone()[0],
    }


def check(db: sqlite3.Connection, run_id: str) -> tuple[str, str | None]:
    """The chain's last digest, and what is wrong with it or with the rows that it is of (None: nothing)."""
    rows = db.execute("SELECT seq, event, prev, digest FROM chain WHERE run_id = ? ORDER BY seq", (run_id,)).fetchall()
    if not rows:
        return GENESIS, "its chain of happenings is gone"
    head = GENESIS
    events = []
    for place, (seq, text, prev, stated) in enumerate(rows, 1):
        try:
            event = loads(text)
        except ValueError:
            return head, f"entry {place} of its chain is no entry"
        if seq != place or prev != head or _link(run_id, seq, event, prev) != stated:
            return head, f"its chain is broken at entry {place}"
        head = stated
        events.append(event)
    try:
        expected = _played(events)
    except (KeyError, TypeError, IndexError):
        return head, "its chain is of happenings that can't be"
    found = _found(db, run_id)
    wrong = [name for name in expected if expected[name] != found[name]]
    return head, f"its {', '.join(wrong)} are not what its chain says" if wrong else None


def _played(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What the rows must be after these happenings."""
    run: Any = None
    card: Any = None
    tries: dict[tuple[str, int], list[Any]] = {}
    ends: dict[str, list[Any]] = {}
    interventions: list[Any] = []
    for event in events:
        if event["kind"] == Happening.PLAN:
            run = event["run"]
        elif event["kind"] == Happening.INTERVENTION:
            interventions.append(event["intervention"])
        elif event["kind"] == Happening.CARD:
            card = event["card"]
        elif event["kind"] == Happening.ADOPTION:
            state = event["state"]
            run, card, interventions = state["run"], state["card"], list(state["interventions"])
            tries = {(row[0], row[1]): row for row in state["tries"]}
            ends = {row[0]: row for row in state["ends"]}
        else:
            row = event["try"]
            tries[row[0], row[1]] = row
            if event["ends"]:
                ends[row[0]] = [row[0], row[5], row[1]]
    return {
        "run": run,
        "tries": [tries[place] for place in sorted(tries)],
        "ends": [ends[key] for key in sorted(ends)],
        "interventions": interventions,
        "card": card,
    }
