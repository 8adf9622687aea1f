"""What a sweep does about money, keys and providers, over attempts that are made up: counting needs no engine."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness import sweep as sweeping
from harness.attempt import Job
from harness.dispatch import Dispatch, Reach
from harness.errors import GateError
from harness.evidence import AttemptRecord
from harness.gateway.access import Access, Auth, Upstream
from harness.gateway.records import Api, Fault
from harness.ledger import Ledger
from harness.outcomes import Outcome
from harness.progress import Silent
from harness.records import ExecutionMode, Plan
from harness.solvers.manifest import DriverKind, Manifest, Solver
from harness.spend import Spender
from harness.spend_book import SpendBook, Spent, exactly
from harness.store import LocalStore
from harness.sweep import Sweep, run_sweep
from harness.traffic import Traffic
from tests.card_rig import Attempt, make_record
from tests.gateway_lines import line, traffic
from tests.plans import plan

UPSTREAM = Upstream(name="paid", url="https://llm.example", auth={Api.CHAT: Auth.BEARER}, credential="K")
HOLD, COST = 100, 30


class Rig:
    """A sweep over a plan whose attempts are a function of theirs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, cap: int = 10**6, **dispatch: Any) -> None:
        self.store = LocalStore(folder / "blobs")
        self.ledger = Ledger(folder / "ledger.db")
        self.book = SpendBook(self.ledger, cap)
        self.cost: Callable[[AttemptRecord], Spent] = lambda _: exactly(COST)
        self.options = dispatch
        self.ran: Counter[str] = Counter()
        self.under_way = 0
        self.lock = threading.Lock()
        self.attempt: Callable[[Job], tuple[Attempt, Traffic]] = lambda _: (Attempt(), traffic(line()))
        monkeypatch.setattr(sweeping, "run_attempt", self._run)

    def _run(self, job: Job, _: object) -> AttemptRecord:
        with self.lock:
            self.ran[job.solver.name] += 1
            self.under_way += 1
        made, seen = self.attempt(job)
        with self.lock:
            self.under_way -= 1
            record = make_record(self.store, self.plan, job.cell, job.attempt_try, made)
        return record.model_copy(update={"traffic": seen.short})

    def go(self, of: Plan, *, concurrency: int = 1, run_id: str | None = None, hold: int | None = HOLD) -> str:
        self.plan = of
        run_id = run_id or self.ledger.create_run(of, {})
        access = Access(upstream=UPSTREAM, apis=(Api.CHAT,), models=("m",))
        self.dispatch = Dispatch({"a0": Reach(access, "a0 m", hold)}, Spender(self.book), self.cost, **self.options)
        limits: Any = SimpleNamespace(limits=make_record(self.store, of, of.cells()[0], 1, Attempt()).limits)
        run_sweep(
            Sweep(
                run_id=run_id,
                plan=of,
                tasks={ref.task: limits for ref in of.tasks},
                solvers=[Solver(manifest=Manifest(name=ref.name, driver=DriverKind.NOOP)) for ref in of.solvers],
                mode=ExecutionMode.SEALED,
                tools=SimpleNamespace(store=self.store),  # type: ignore[arg-type]
                ledger=self.ledger,
                progress=Silent(),
                dispatch=self.dispatch,
            ),
            concurrency=concurrency,
        )
        return run_id

    def outcomes(self, run_id: str) -> Counter[tuple[str, Outcome]]:
        return Counter((cell.solver, end.outcome) for cell, end in self.ledger.results(run_id).items())


def test_each_attempt_is_reserved_and_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch)
    rig.attempt = lambda _: (_held_alone(rig), traffic(line()))
    rig.go(plan(solvers=2, tasks=2, attempts=2))
    assert rig.ran == {"a0": 4, "a1": 4}
    day = rig.book.day()
    assert (day.metered, day.held) == (4 * COST, 0)


def _held_alone(rig: Rig) -> Attempt:
    assert rig.book.day().held in {0, HOLD}
    return Attempt()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_cap_lets_what_is_under_way_end_and_begins_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    """Room for two at a time and seven in all; solvers that cost nothing go on to their end."""
    rig = Rig(tmp_path, monkeypatch, cap=290)
    most = []
    rig.attempt = lambda _: (most.append(rig.book.day().charged) or Attempt(), traffic(line()))  # type: ignore[func-returns-value]
    with pytest.raises(GateError, match="stopped between attempts: daily cap") as caught:
        rig.go(plan(solvers=2, tasks=5, attempts=2), concurrency=concurrency)
    assert caught.value.exit_code == 4
    assert max(most) <= 290
    run = rig.ledger.run("latest")
    assert rig.under_way == 0
    assert rig.ran == {"a0": 7, "a1": 10}
    assert (run.ended, rig.book.day().metered, rig.book.day().held) == (17, 7 * COST, 0)
    rig.book.cap = 10**6
    rig.go(rig.plan, run_id=run.id)
    assert rig.outcomes(run.id) == {("a0", Outcome.SOLVED): 10, ("a1", Outcome.SOLVED): 10}
    assert rig.ran["a0"] == 10, "nothing was run twice"


def test_repeated_tries_are_paid_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch)
    down = traffic(line(429, fault=Fault.RATE_LIMITED))
    rig.attempt = lambda _: (Attempt(Outcome.ERRORED, None, kind="rate_limited"), down)
    run_id = rig.go(plan(solvers=1, tasks=1, attempts=1))
    assert rig.outcomes(run_id) == {("a0", Outcome.ERRORED): 1}
    assert rig.ran["a0"] == 3
    assert rig.book.day().metered == 3 * COST


def test_an_attempt_that_dies_stays_charged_at_what_was_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, monkeypatch)

    def dies(_: Job) -> tuple[Attempt, Traffic]:
        raise KeyboardInterrupt

    rig.attempt = dies
    with pytest.raises(KeyboardInterrupt):
        rig.go(plan(solvers=1, tasks=1, attempts=1))
    run = rig.ledger.run("latest")
    assert rig.book.abandon() == 1
    rig.ledger.resume(run.id)
    rig.attempt = lambda _: (Attempt(), traffic(line()))
    rig.go(rig.plan, run_id=run.id)
    day = rig.book.day()
    assert (day.metered, day.abandoned, day.charged) == (COST, HOLD, COST + HOLD)


def test_a_key_that_is_refused_ends_the_solver_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch)
    refused = Attempt(Outcome.UNAVAILABLE, None, kind="key"), traffic(line(401))
    rig.attempt = lambda job: refused if job.solver.name == "a0" else (Attempt(), traffic())
    run_id = rig.go(plan(solvers=2, tasks=3, attempts=2))
    assert rig.outcomes(run_id) == {("a0", Outcome.UNAVAILABLE): 6, ("a1", Outcome.SOLVED): 6}
    assert rig.ran == {"a0": 1, "a1": 6}
    reasons = {
        rig.store.get(end.record.digest) for cell, end in rig.ledger.results(run_id).items() if cell.solver == "a0"
    }
    assert sum(b"in an earlier attempt: " in one for one in reasons) == 5


def test_a_solver_that_was_answered_once_is_known_to_have_been(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch)
    before: list[bool] = []
    rig.attempt = lambda job: (before.append(job.reached_before) or Attempt(), traffic(line()))  # type: ignore[func-returns-value]
    rig.go(plan(solvers=1, tasks=3, attempts=1))
    assert before == [False, True, True]


def test_an_open_circuit_is_waited_out_and_only_by_those_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, monkeypatch, pause_s=3600)
    stop = threading.Event()
    opened = traffic(line(503, fault=Fault.CIRCUIT_OPEN))
    rig.attempt = lambda _: (Attempt(Outcome.FAILED, (False, False)), opened)
    rig.go(plan(solvers=1, tasks=1, attempts=1))
    rig.dispatch.wait("a1", 0, stop)
    waiting = threading.Thread(target=rig.dispatch.wait, args=("a0", 0, stop))
    waiting.start()
    waiting.join(timeout=0.2)
    assert waiting.is_alive()
    stop.set()
    waiting.join()


def test_a_solver_without_a_hold_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch, cap=0)
    run_id = rig.go(plan(solvers=1, tasks=2, attempts=1), hold=None)
    assert rig.outcomes(run_id) == {("a0", Outcome.SOLVED): 2}
    assert rig.book.day().charged == 0


def test_what_is_known_to_be_unavailable_is_never_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(tmp_path, monkeypatch, unavailable={"a0": "no key: the environment has no K"})
    run_id = rig.go(plan(solvers=2, tasks=2, attempts=1))
    assert rig.outcomes(run_id) == {("a0", Outcome.UNAVAILABLE): 2, ("a1", Outcome.SOLVED): 2}
    assert rig.ran == {"a1": 2}
    assert rig.book.day().charged == 0
