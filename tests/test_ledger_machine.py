"""Laws of the ledger: no cell ends twice or is lost, whatever kills the process and whenever."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from harness.ledger import CacheKind, InterventionKind, Ledger, TryState
from harness.outcomes import Outcome
from harness.records import Cell
from tests.plans import ZERO, plan, record


class LedgerMachine(RuleBasedStateMachine):
    """A model of cells and tries beside the real file, which is killed at random points."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.ledger = Ledger(self.folder / "ledger.db")
        self.ended: dict[Cell, tuple[Outcome, str]] = {}
        self.open: dict[Cell, int] = {}
        self.count: dict[Cell, int] = {}
        self.resumes = 0

    @initialize()
    def begin(self) -> None:
        self.plan = plan()
        self.run_id = self.ledger.create_run(self.plan, {"concurrency": 2})

    @rule(cell=st.sampled_from(plan().cells()))
    def start(self, cell: Cell) -> None:
        if cell in self.ended or cell in self.open:
            with pytest.raises(sqlite3.IntegrityError):
                self.ledger.start_try(self.run_id, cell)
            return
        number = self.ledger.start_try(self.run_id, cell)
        self.count[cell] = self.count.get(cell, 0) + 1
        assert number == self.count[cell]
        self.open[cell] = number

    @precondition(lambda self: self.open)
    @rule(data=st.data(), outcome=st.sampled_from(Outcome), terminal=st.booleans())
    def finish(self, data: st.DataObject, outcome: Outcome, terminal: bool) -> None:
        cell = data.draw(st.sampled_from(sorted(self.open, key=lambda cell: cell.key)))
        number = self.open.pop(cell)
        blob = record(f"{cell.key}#{number}")
        self.ledger.finish(self.run_id, cell, number, outcome, blob, terminal=terminal)
        if terminal:
            self.ended[cell] = (outcome, blob.digest)

    @precondition(lambda self: self.ended)
    @rule(data=st.data(), outcome=st.sampled_from(Outcome))
    def finish_again(self, data: st.DataObject, outcome: Outcome) -> None:
        cell = data.draw(st.sampled_from(sorted(self.ended, key=lambda cell: cell.key)))
        with pytest.raises(sqlite3.IntegrityError):
            self.ledger.finish(self.run_id, cell, self.count[cell], outcome, record("other"), terminal=True)

    @rule()
    def kill(self) -> None:
        """What a killed process leaves: the files as they are, and nothing of its memory."""
        survivor = Path(tempfile.mkdtemp())
        for path in self.folder.iterdir():
            shutil.copy(path, survivor / path.name)
        self.ledger.close()
        shutil.rmtree(self.folder)
        self.folder = survivor
        self.ledger = Ledger(self.folder / "ledger.db")
        assert self.ledger.resume(self.run_id) == len(self.open)
        self.open.clear()
        self.resumes += 1

    @invariant()
    def nothing_lost_nothing_twice(self) -> None:
        if not hasattr(self, "run_id"):
            return
        results = self.ledger.results(self.run_id)
        assert {cell: (end.outcome, end.record.digest) for cell, end in results.items()} == self.ended
        assert set(self.ledger.pending(self.run_id)) | set(results) == set(self.plan.cells())
        assert len(self.ledger.pending(self.run_id)) + len(results) == len(self.plan.cells())
        tries = self.ledger.tries(self.run_id)
        assert len(tries) == sum(self.count.values())
        assert {t.cell for t in tries if t.state is TryState.OPEN} == set(self.open)
        kinds = [one.kind for one in self.ledger.interventions(self.run_id)]
        assert kinds == [InterventionKind.RESUME] * self.resumes
        self.ledger.check(self.run_id)

    def teardown(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.folder)


LedgerMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLedgerMachine = LedgerMachine.TestCase


CHILD = """
import sys
sys.path[:0] = sys.argv[2].split(':')
from pathlib import Path
from harness.ledger import Ledger
from harness.outcomes import Outcome
from tests.plans import record
with Ledger(Path(sys.argv[1])) as ledger:
    run = ledger.run("latest")
    ledger.resume(run.id)
    for cell in ledger.pending(run.id):
        number = ledger.start_try(run.id, cell)
        print("started", cell.key, flush=True)
        ledger.finish(run.id, cell, number, Outcome.SOLVED, record(cell.key), terminal=True)
        print("ended", cell.key, flush=True)
"""


def test_a_killed_process_loses_nothing_it_was_told_is_kept(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with Ledger(where) as ledger:
        run_id = ledger.create_run(plan(solvers=5, tasks=10, attempts=4), {})
    here = Path(__file__).resolve().parent
    root = f"{here.parent}:{here}"
    said: list[str] = []
    for stop_after in (1, 2, 7, 30, 61):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(where), root], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        said += [child.stdout.readline().strip() for _ in range(stop_after)]
        child.send_signal(signal.SIGKILL)
        said += [line.strip() for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        child.wait()
        child.stdout.close()
    with Ledger(where) as ledger:
        ended = {cell.key for cell in ledger.results(run_id)}
        told = [line.split()[1] for line in said if line.startswith("ended")]
        assert set(told) <= ended
        assert len(told) == len(set(told))
        assert len(ended) + len(ledger.pending(run_id)) == 200
        assert len(ledger.interventions(run_id)) == 5


def test_threads_share_one_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        run_id = ledger.create_run(plan(solvers=4, tasks=4, attempts=2), {})
        cells = ledger.pending(run_id)

        def work(mine: tuple[Cell, ...]) -> None:
            for cell in mine:
                number = ledger.start_try(run_id, cell)
                ledger.finish(run_id, cell, number, Outcome.FAILED, record(cell.key), terminal=True)

        threads = [threading.Thread(target=work, args=(cells[n::4],)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.pending(run_id) == ()
        assert tuple(ledger.results(run_id)) == cells


def test_the_schema_itself_holds_the_promises(tmp_path: Path) -> None:
    where = tmp_path / "ledger.db"
    with Ledger(where) as ledger:
        run_id = ledger.create_run(plan(1, 1, 1), {})
        cell = ledger.pending(run_id)[0]
        ledger.finish(run_id, cell, ledger.start_try(run_id, cell), Outcome.SOLVED, record("x"), terminal=True)
    raw = sqlite3.connect(where)
    for sql in (
        "UPDATE cells SET outcome = 'failed'",
        "UPDATE cells SET outcome = NULL, try = NULL",
        "DELETE FROM cells",
        "DELETE FROM tries",
        "UPDATE tries SET outcome = 'failed'",
        "INSERT INTO cells (run_id, seq, key, solver, task, attempt) SELECT id, 9, 'k', 's', 't', 1 FROM runs",
        "INSERT INTO tries (run_id, key, try, state, started_us) SELECT run_id, key, 2, 'open', 1 FROM cells",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute(sql)
    raw.close()


def test_runs_of_one_plan_are_counted_and_caches_kept(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        one = plan()
        first, second = ledger.create_run(one, {}), ledger.create_run(one, {"concurrency": 1})
        ledger.create_run(plan(attempts=1), {})
        assert ledger.runs_known(one.id) == 2
        assert [run.id for run in ledger.runs()][:2] == [first, second]
        assert ledger.run(second).options == {"concurrency": 1}
        assert ledger.cached(CacheKind.BASELINE, "key") is None
        ledger.keep(CacheKind.BASELINE, "key", record("a"))
        ledger.keep(CacheKind.BASELINE, "key", record("b"))
        assert ledger.cached(CacheKind.BASELINE, "key") == record("b")
        assert ledger.cached(CacheKind.SEED, "key") is None
        ledger.set_card(first, ZERO)
        assert ledger.run(first).card == ZERO
        assert ledger.forget() == 1
