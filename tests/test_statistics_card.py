"""The statistics as they stand on a card: over the right denominators, verified from the evidence, and shown."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from harness.outcomes import Outcome
from harness.records import Cell
from harness.store import LocalStore
from scoring.board import board_of
from scoring.card import Card, make_card
from scoring.compare import compare
from scoring.contrasts import contrasts
from scoring.evidence import Evidence
from scoring.rates import AtK, Rates, rates
from scoring.report import comparison
from scoring.report.detectable import detectable, limits
from scoring.report.table import NONE
from scoring.report.text import make_report
from scoring.statistics.interval import Method
from scoring.statistics.paired import Verdict
from scoring.verify import verify_card
from scoring.within import Timed, within
from tests.card_rig import MADE, Attempt, make_evidence
from tests.plans import plan

S, F, X = Outcome.SOLVED, Outcome.FAILED, Outcome.INFRA


def at(found: Rates, k: int) -> AtK:
    return next(one for one in found.at if one.k == k)


def run(folder: Path, solvers: int = 2, tasks: int = 6, attempts: int = 3) -> tuple[Evidence, LocalStore]:
    """The first solver solves all, the others one task; one attempt of the second was excluded."""
    store, of = LocalStore(folder), plan(solvers, tasks, attempts)
    tries: dict[Cell, list[Attempt | None]] = {}
    for cell in of.cells():
        lost = cell.solver != "a0" and cell.task != "t0"
        tries[cell] = [Attempt(F, (False, False), joules=90, seconds=40) if lost else Attempt(joules=60, seconds=30)]
    tries[Cell(solver="a1", task="t0", attempt=2)] = [Attempt(X, None, kind="host")]
    return make_evidence(store, of, tries), store


def test_a_missing_trial_is_neither_deflated_nor_made_up() -> None:
    """Of three trials one task lost one: its pass@2 is of its own two, and pass@3 of nobody's."""
    found = rates({"a": [S, F, S], "b": [S, X, S], "c": [F, F, F]})
    assert at(found, 2).pass_at.value == "0.666667"
    assert at(found, 2).pass_all.value == "0.444444", "b: 1 of its one pair, not 1 of 3"
    assert at(found, 3).pass_at.value is None
    assert at(found, 3).pass_at.reason == "1 of 3 tasks have fewer than 3 attempts that count"
    assert (at(found, 3).pass_at.over_available, at(found, 3).pass_at.available) == ("0.500000", 2)
    assert at(found, 3).pass_all_raw.value == "0.000000", "an excluded attempt is a failure there"
    assert found.pass_at_1.value == "0.555556" and found.pass_at_1_raw.value == "0.444444"


def test_a_task_without_a_counting_attempt_is_not_a_failure() -> None:
    found = rates({"a": [S], "b": [X]})
    assert (found.pass_at_1.value, found.pass_at_1.available, found.pass_at_1.of) == ("1.000000", 1, 2)
    assert found.pass_at_1_raw.value == "0.500000"
    nothing = rates({"a": [X]})
    assert (nothing.pass_at_1.value, nothing.pass_at_1.reason) == (None, "no attempt counts")
    assert nothing.effective_tries is None and nothing.standard_error is None


def test_which_intervals_a_rate_has() -> None:
    single, several = rates({str(n): [S if n < 5 else F] for n in range(10)}), rates({"a": [S, F], "b": [S, S]})
    assert [one.method for one in single.pass_at_1.intervals] == [
        Method.WILSON,
        Method.CLUSTERED_T,
        Method.BOOTSTRAP,
    ]
    assert (single.pass_at_1.intervals[0].low, single.pass_at_1.intervals[0].high) == ("0.236593", "0.763407")
    assert several.pass_at_1.intervals[0].method is Method.EFFECTIVE_WILSON
    assert rates({"a": [S, F]}).pass_at_1.intervals == ()
    assert single.minimum_detectable is not None and rates({"a": [S], "b": [S]}).minimum_detectable is None


@pytest.mark.parametrize(
    ("tasks", "shown"), [(3, NONE), (5, NONE), (6, "~0.412"), (16, "~0.412"), (29, "~0.412"), (30, "0.412")]
)
def test_what_is_detectable_is_marked_with_few_tasks_and_withheld_with_very_few(tasks: int, shown: str) -> None:
    assert detectable("0.412000", tasks) == shown
    assert detectable(None, tasks) == NONE


@pytest.mark.parametrize(("tasks", "shown"), [(5, "–"), (6, "~0.637"), (30, "0.098")])
def test_reports_of_cards_and_comparisons_show_it_so(tmp_path: Path, tasks: int, shown: str) -> None:
    evidence, _ = run(tmp_path, tasks=tasks)
    card = make_card(evidence, MADE)
    of_card, board = make_report(card), board_of(card)
    of_pair = comparison.make_report(compare(board, board, ["a0:a1"]))
    [against] = next(table for table in of_card.tables if "against" in table.title).rows
    [summary] = next(table for table in of_pair.tables if "B against A" in table.title).rows
    assert against[-2] == summary[-2] == shown
    for report in (of_card, of_pair):
        said = " ".join(note for note in report.notes if "detectable" in note)
        assert ("~: approximate" in said) is (shown[0] == "~")
        assert ("not shown below 6 tasks" in said) is (shown == "–")


def test_a_note_says_what_the_marks_are() -> None:
    assert limits([30, 100]) == "" == limits([])
    assert limits([16]) == " (~: approximate, fewer than 30 tasks)"
    assert limits([3, 16, 30]) == " (~: approximate, fewer than 30 tasks; not shown below 6 tasks)"


def test_holm_holds_back_what_alone_would_be_a_finding() -> None:
    base = {str(n): [Fraction(0)] for n in range(12)}
    better = {task: [Fraction(n < 5)] for n, task in enumerate(base)}
    alone, many = contrasts({"a": better, "b": base}), contrasts({"a": better, **{f"b{n}": base for n in range(6)}})
    assert [one.verdict for one in alone] == [Verdict.BETTER]
    assert len(many) == 6 and all(one.paired.verdict is Verdict.BETTER for one in many)
    assert all(one.verdict is Verdict.NOT_SEPARATED for one in many)
    assert len(contrasts(dict.fromkeys("abcde", base))) == 10, "each pair, up to five solvers"
    assert contrasts({"a": {"t": [Fraction(1)]}, "b": {"u": [Fraction(1)]}}) == ()


def test_pass_at_1_within_limits_is_of_the_times_that_solvers_took() -> None:
    cells = [Timed("a", S, 599_000_000), Timed("a", S, 601_000_000), Timed("b", F, None), Timed("b", X, None)]
    ten, thirty = within(cells)
    assert (ten.limit_s, ten.pass_at_1.value, ten.pass_at_1_raw.value) == (600, "0.250000", "0.250000")
    assert (thirty.limit_s, thirty.pass_at_1.value) == (1800, "0.500000")
    unknown = within([Timed("a", S, None)])[0].pass_at_1
    assert (unknown.value, unknown.reason) == (None, "how long 1 solved attempts took is not known")


@pytest.fixture
def made(tmp_path: Path) -> tuple[Card, LocalStore]:
    evidence, store = run(tmp_path)
    return make_card(evidence, MADE), store


def test_a_card_with_statistics_verifies(made: tuple[Card, LocalStore]) -> None:
    card, store = made
    assert card.core.statistics == 1
    assert verify_card(card.to_bytes(), store, card.id).problems == ()
    [contrast] = card.core.comparisons
    assert (contrast.first, contrast.second, contrast.verdict) == ("a0", "a1", Verdict.BETTER)
    solver = card.measured.solvers["a1"]
    assert solver.energy.per_resolved_uj is not None and solver.per_resolved_error_uj is not None
    assert solver.elapsed_us == 10 and solver.tokens is None


def test_a_card_from_before_statistics_keeps_its_bytes_and_verifies(tmp_path: Path) -> None:
    evidence, store = run(tmp_path)
    before = make_card(replace(evidence, statistics=0), MADE)
    data = before.to_bytes()
    for name in (b'"statistics"', b'"rates"', b'"comparisons"', b'"frontiers"', b'"within"', b'"wall_us":{'):
        assert name not in data
    assert verify_card(data, store, before.id).problems == ()
    assert make_report(before).last == f"card {before.id}"


def test_a_card_shows_both_denominators_intervals_verdicts_and_frontiers(made: tuple[Card, LocalStore]) -> None:
    report = make_report(made[0])
    rows = {(table.title, row[0]): row for table in report.tables for row in table.rows}
    solved = next(row for (title, name), row in rows.items() if title == "solvers" and name == "a1")
    rate = made[0].core.aggregates["a1"]
    assert solved[1] == f"{rate.solved}/17" and solved[3].endswith(" of 18")
    assert report.notes[-1].endswith(f"a1 {rate.solved}/17 (18 planned)"), "in short, above the card's id"
    assert " (0." in solved[2] and " to 0." in solved[2]
    titles = " ".join(table.title for table in report.tables)
    for words in ("pass@k", "solvers against each other", "frontiers", "cost of all tries"):
        assert words in titles
    [against] = next(table for table in report.tables if "against" in table.title).rows
    assert against[-1] == "better"
    cost = next(table for table in report.tables if "cost" in table.title)
    assert "pass@1 in 10 min" in cost.columns and "±" in cost.rows[1][1]
    assert any(note.startswith("frontier by joules: counter") for note in report.notes)
