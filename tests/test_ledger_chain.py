"""A ledger says what happened: a row or an entry that was changed afterwards is noticed, and older ledgers go on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from harness.errors import StorageError, UserError
from harness.ledger import InterventionKind, Ledger
from harness.ledger_chain import GENESIS
from harness.outcomes import Outcome
from tests.plans import ZERO, plan, record


def eventful(where: Path) -> str:
    """A run with a try that ended, one that was abandoned, interventions and a card."""
    with Ledger(where) as ledger:
        run_id = ledger.create_run(plan(), {"concurrency": 2})
        first, second = ledger.pending(run_id)[:2]
        ledger.finish(run_id, first, ledger.start_try(run_id, first), Outcome.INFRA, record("a"), terminal=False)
        ledger.finish(run_id, first, ledger.start_try(run_id, first), Outcome.SOLVED, record("b"), terminal=True)
        ledger.start_try(run_id, second)
        ledger.resume(run_id, "again")
        ledger.intervene(run_id, InterventionKind.LIMIT_CHANGE, "concurrency 1 to 2")
        ledger.set_card(run_id, ZERO)
    return run_id


def unguarded(where: Path) -> sqlite3.Connection:
    """The file as somebody opens it who does not care for the schema's promises."""
    raw = sqlite3.connect(where)
    for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    return raw


def test_a_ledger_agrees_with_its_own_chain(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    run_id = eventful(where)
    with Ledger(where) as ledger:
        head = ledger.check(run_id)
        assert head not in {GENESIS, ZERO}
        ledger.intervene(run_id, InterventionKind.JUDGE_RETRY, "once")
        assert ledger.check(run_id) != head
        assert [one.kind for one in ledger.interventions(run_id)] == [
            InterventionKind.RESUME,
            InterventionKind.LIMIT_CHANGE,
            InterventionKind.JUDGE_RETRY,
        ]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("UPDATE tries SET outcome = 'failed' WHERE outcome = 'solved'", "tries"),
        ("UPDATE tries SET started_us = started_us + 1", "tries"),
        ("UPDATE tries SET record = replace(record, '1', '2') WHERE outcome = 'infra'", "tries"),
        ("UPDATE tries SET state = 'open' WHERE state = 'abandoned'", "tries"),
        ("DELETE FROM tries WHERE outcome = 'infra'", "tries"),
        ("UPDATE cells SET outcome = 'failed' WHERE outcome = 'solved'", "ends"),
        ("UPDATE cells SET outcome = NULL, try = NULL", "ends"),
        ("DELETE FROM cells WHERE outcome IS NULL", "run"),
        ("UPDATE runs SET plan_id = 'sha256:' || hex(zeroblob(32))", "run"),
        ("UPDATE runs SET plan = plan || ' '", "run"),
        ("UPDATE runs SET options = '{}'", "run"),
        ("UPDATE runs SET created_us = 1", "run"),
        ("UPDATE runs SET card = NULL", "card"),
        ("DELETE FROM interventions WHERE kind = 'resume'", "interventions"),
        ("UPDATE interventions SET detail = 'nothing' WHERE kind = 'limit_change'", "interventions"),
        ("UPDATE chain SET event = replace(event, 'solved', 'failed')", "broken at entry 5"),
        ("UPDATE chain SET digest = prev WHERE seq = 3", "broken at entry 3"),
        ("DELETE FROM chain WHERE seq = 2", "broken at entry 2"),
        ("DELETE FROM chain WHERE seq = (SELECT max(seq) FROM chain)", "card"),
        ("DELETE FROM chain", "chain of happenings is gone"),
        ("UPDATE chain SET event = 'x' WHERE seq = 1", "entry 1 of its chain is no entry"),
    ],
)
def test_what_was_changed_behind_its_back_is_named(tmp_path: Path, sql: str, named: str) -> None:
    where = tmp_path / "ledger.db"
    run_id = eventful(where)
    with unguarded(where) as raw:
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute(sql)
    raw.close()
    with Ledger(where) as ledger, pytest.raises(StorageError) as caught:
        ledger.check(run_id)
    assert f"run {run_id}" in caught.value.problem
    assert named in caught.value.problem


def test_the_schema_lets_nobody_rewrite_the_chain(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    eventful(where)
    with Ledger(where) as ledger:
        ledger.set_published(0, ZERO, ZERO)
        assert ledger.published() == {0: ZERO}
    raw = sqlite3.connect(where)
    for sql in (
        "DELETE FROM chain",
        "UPDATE chain SET prev = digest",
        "DELETE FROM published",
        "UPDATE published SET card = ''",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute(sql)
    raw.close()


def test_a_ledger_without_a_chain_is_taken_over_as_it_is_and_goes_on(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    run_id = eventful(where)
    with unguarded(where) as raw:
        raw.execute("DROP TABLE chain")
        raw.execute("DROP TABLE published")
        raw.execute("PRAGMA user_version = 3")
    raw.close()
    with Ledger(where, reading=True) as ledger:
        assert ledger.run("latest").id == run_id
    with Ledger(where) as ledger:
        head = ledger.check(run_id)
        cell = ledger.pending(run_id)[0]
        ledger.finish(run_id, cell, ledger.start_try(run_id, cell), Outcome.FAILED, record("c"), terminal=True)
        assert ledger.check(run_id) != head
    with unguarded(where) as raw:
        raw.execute("UPDATE tries SET outcome = 'failed' WHERE outcome = 'solved'")
    raw.close()
    with Ledger(where) as ledger, pytest.raises(StorageError, match="tries are not what its chain says"):
        ledger.check(run_id)


def test_a_plan_that_is_run_again_says_so(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        one, two, other = (ledger.create_run(of, {}) for of in (plan(), plan(), plan(attempts=1)))
        assert [len(ledger.interventions(run_id)) for run_id in (one, two, other)] == [0, 1, 0]
        (again,) = ledger.interventions(two)
        assert (again.kind, again.detail) == (InterventionKind.RERUN, "run 2 of this plan here")


def test_a_clock_that_was_set_back_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    run_id = eventful(where)
    for table, column in (("runs", "created_us"), ("tries", "started_us"), ("interventions", "at_us")):
        with unguarded(where) as raw:
            raw.execute(f"UPDATE {table} SET {column} = {column} + 3600000000")
        raw.close()
        with Ledger(where) as ledger:
            for act in (lambda: ledger.create_run(plan(), {}), lambda: ledger.resume(run_id)):
                with pytest.raises(UserError, match="the clock: stands before"):
                    act()
            assert len(ledger.runs()) == 1
        with unguarded(where) as raw:
            raw.execute(f"UPDATE {table} SET {column} = {column} - 3600000000")
        raw.close()
