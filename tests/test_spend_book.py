"""Laws of the daily cap: nothing is forgotten or freed in silence, and it holds whoever asks at the same time."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness import ledger_file
from harness.ledger import Ledger
from harness.money import USD, pusd, shown, usd
from harness.outcomes import Outcome
from harness.spend import Spender
from harness.spend_book import CapReached, Purpose, SpendBook, Spent, exactly
from tests.plans import plan, record

DAY = 86_400
CAP = 1000
PURPOSES = st.sampled_from(Purpose)


class CapMachine(RuleBasedStateMachine):
    """A model of days, reservations and settlements beside the real file, which is killed at random points."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.time = 1_800_000_000.0
        self.open: dict[int, tuple[str, int]] = {}
        self.charges: dict[str, int] = defaultdict(int)
        self.overrun: dict[str, int] = defaultdict(int)
        self.known: list[int] = []
        self._start()

    def _start(self) -> None:
        self.ledger = Ledger(self.folder / "ledger.db")
        self.book = SpendBook(self.ledger, CAP, now=lambda: self.time)

    @property
    def today(self) -> str:
        return self.book.day().day

    @rule(amount=st.integers(0, 400), purpose=PURPOSES)
    def reserve(self, amount: int, purpose: Purpose) -> None:
        if self.charges[self.today] + amount > CAP:
            with pytest.raises(CapReached):
                self.book.reserve(purpose, "w", "x", amount)
            return
        number = self.book.reserve(purpose, "w", "x", amount)
        assert number not in self.open
        self.open[number] = (self.today, amount)
        self.charges[self.today] += amount

    @precondition(lambda self: self.open)
    @rule(data=st.data(), spent=st.integers(0, 500), known=st.booleans())
    def settle(self, data: st.DataObject, spent: int, known: bool) -> None:
        number = data.draw(st.sampled_from(sorted(self.open)))
        day, amount = self.open.pop(number)
        self.book.settle(number, Spent(spent if known else None, spent))
        charge = spent if known else max(amount, spent)
        self.charges[day] += charge - amount
        self.overrun[day] += max(0, spent - amount)
        with pytest.raises(sqlite3.IntegrityError):
            self.book.settle(number, exactly(0))

    @rule(seconds=st.integers(0, DAY))
    def wait(self, seconds: int) -> None:
        self.time += seconds

    @rule()
    def kill(self) -> None:
        """What a killed process leaves, found by the next one: every open reservation stands, for good."""
        survivor = Path(tempfile.mkdtemp())
        for path in self.folder.iterdir():
            shutil.copy(path, survivor / path.name)
        self.ledger.close()
        shutil.rmtree(self.folder)
        self.folder = survivor
        self._start()
        assert self.book.abandon() == len(self.open)
        for number in self.open:
            with pytest.raises(sqlite3.IntegrityError):
                self.book.settle(number, exactly(0))
        self.open.clear()

    @invariant()
    def every_day_adds_up(self) -> None:
        for day, charge in self.charges.items():
            account = self.book.day(day)
            assert account.charged == charge
            assert account.held == sum(amount for of, amount in self.open.values() if of == day)
            assert charge <= CAP + self.overrun[day], "only what cost more than it held can be over the cap"

    def teardown(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.folder)


CapMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestCapMachine = CapMachine.TestCase


def test_threads_together_never_hold_more_than_the_cap(tmp_path: Path) -> None:
    taken: list[int] = []
    with Ledger(tmp_path / "ledger.db") as ledger:
        book = SpendBook(ledger, 100)

        def work() -> None:
            for _ in range(20):
                try:
                    taken.append(book.reserve(Purpose.ATTEMPT, "w", "x", 3))
                except CapReached:
                    return

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == len(set(taken)) == 33
        assert book.day().held == 99


CHILD = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from harness.ledger import Ledger
from harness.spend_book import CapReached, Purpose, SpendBook, exactly
done = 0
with Ledger(Path(sys.argv[1])) as ledger:
    book = SpendBook(ledger, 1000)
    try:
        while True:
            number = book.reserve(Purpose.JUDGE, "w", "x", 7)
            if done % 2:
                book.settle(number, exactly(5))
            done += 1
    except CapReached:
        print(done)
"""


def test_processes_together_never_hold_more_than_the_cap(tmp_path: Path) -> None:
    where, root = tmp_path / "ledger.db", Path(__file__).resolve().parent.parent
    Ledger(where).close()
    children = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(where), str(root)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    done = sum(int(child.communicate()[0]) for child in children)
    with Ledger(where) as ledger:
        day = SpendBook(ledger, 1000).day()
    assert 1000 - 7 < day.charged <= 1000
    assert day.held // 7 + day.metered // 5 == done


def test_what_is_under_way_is_waited_for_before_a_run_is_stopped(tmp_path: Path) -> None:
    """Two dispatches hold all there is; the third waits, and goes when the first has cost less than it held."""
    stop = threading.Event()
    with Ledger(tmp_path / "ledger.db") as ledger:
        spender = Spender(SpendBook(ledger, 10))
        first = spender.reserve(Purpose.ATTEMPT, "w", "1", 5, stop)
        spender.reserve(Purpose.ATTEMPT, "w", "2", 5, stop)
        got: list[int] = []
        waiting = threading.Thread(target=lambda: got.append(spender.reserve(Purpose.ATTEMPT, "w", "3", 5, stop)))
        waiting.start()
        waiting.join(timeout=0.1)
        assert waiting.is_alive() and not got
        spender.settle(first, exactly(0))
        waiting.join()
        assert len(got) == 1
        spender.settle(got[0], exactly(5))
        spender.abandon()
        with pytest.raises(CapReached, match="leaves no room"):
            spender.reserve(Purpose.ATTEMPT, "w", "4", 1, stop)


def test_a_stopped_run_waits_for_nobody(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with Ledger(tmp_path / "ledger.db") as ledger:
        spender = Spender(SpendBook(ledger, 10))
        spender.reserve(Purpose.ATTEMPT, "w", "1", 10, stop)
        with pytest.raises(CapReached):
            spender.reserve(Purpose.ATTEMPT, "w", "2", 1, stop)


def test_what_is_not_known_to_the_end_stays_at_its_reservation(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        book = SpendBook(ledger, 1000)
        for spent in (Spent(None, 2), Spent(None, 200), exactly(3)):
            book.settle(book.reserve(Purpose.ATTEMPT, "w", "x", 100), spent)
        day = book.day()
        assert (day.uncertain, day.metered, day.charged) == (300, 3, 303)
        assert book.history(Purpose.ATTEMPT, "w") == (3,)
        assert book.history(Purpose.JUDGE, "w") == book.history(Purpose.ATTEMPT, "v") == ()
    with pytest.raises(ValueError, match="at least itself"):
        Spent(3, 2)


def test_the_schema_itself_forgets_no_money(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with Ledger(where) as ledger:
        book = SpendBook(ledger, 1000)
        book.settle(book.reserve(Purpose.ATTEMPT, "w", "x", 100), exactly(3))
        book.reserve(Purpose.ATTEMPT, "w", "x", 100)
    raw = sqlite3.connect(where)
    for sql in (
        "DELETE FROM spend",
        "UPDATE spend SET actual = 0 WHERE state = 'settled'",
        "UPDATE spend SET reserved = 0 WHERE state = 'reserved'",
        "UPDATE spend SET day = '2000-01-01' WHERE state = 'reserved'",
        "UPDATE spend SET state = 'settled', closed_us = 1 WHERE state = 'reserved'",
        "UPDATE spend SET state = 'abandoned', actual = 0, closed_us = 1 WHERE state = 'reserved'",
        "UPDATE spend SET state = 'settled', actual = -1, at_least = 0, closed_us = 1 WHERE state = 'reserved'",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute(sql)
    raw.close()


def test_a_ledger_from_before_there_was_money_is_taken_over(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with Ledger(where) as ledger:
        run_id = ledger.create_run(plan(1, 1, 1), {})
        cell = ledger.pending(run_id)[0]
        ledger.finish(run_id, cell, ledger.start_try(run_id, cell), Outcome.SOLVED, record("x"), terminal=True)
    raw = sqlite3.connect(where)
    raw.executescript("DROP TABLE spend; DROP TABLE chain; DROP TABLE published; PRAGMA user_version = 2")
    raw.close()
    with Ledger(where) as ledger:
        assert ledger.results(run_id)[cell].outcome is Outcome.SOLVED
        assert SpendBook(ledger, 1).day().charged == 0
    raw = sqlite3.connect(where)
    assert raw.execute("PRAGMA user_version").fetchone()[0] == ledger_file.VERSION
    raw.close()


@settings(deadline=None)
@given(st.integers(0, 10**6 * USD - 1))
def test_money_is_exact_both_ways(value: int) -> None:
    assert pusd(usd(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "$0.0000"), (1, "<$0.0001"), (pusd("0.32"), "$0.3200"), ("0.00375", "$0.0038"), ("12.5", "$12.5000")],
)
def test_money_as_it_is_shown(value: int | str, text: str) -> None:
    assert shown(value) == text
