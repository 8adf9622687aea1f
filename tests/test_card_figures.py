"""Aggregates and measured values: exact, never invented, and retries are paid for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.ledger import TryState
from harness.outcomes import Outcome, in_denominator
from harness.store import LocalStore
from scoring.aggregate import Result, aggregate
from scoring.card import make_card
from scoring.figures import Figure, decimal, known, mean, missing
from scoring.report.text import make_report, per_resolved, total
from scoring.stamp import AuditStatus
from tests.card_rig import MADE, Attempt, make_evidence
from tests.plans import plan

NAMES = ("f", "q", "s", "c", "combined", "combined_classic")


def result(task: str, outcome: Outcome, figure: Figure | None = None) -> Result:
    return Result(task, outcome, dict.fromkeys(NAMES, figure or known(Fraction(1, 3))))


@given(st.fractions())
def test_a_decimal_is_the_nearest_of_six_places(value: Fraction) -> None:
    text = decimal(value)
    assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**6)
    assert decimal(Fraction(text)) == text


def test_a_negative_and_a_half_are_rounded_to_even() -> None:
    assert decimal(Fraction(-1, 3)) == "-0.333333"
    assert decimal(Fraction(5, 10**7)) == "0.000000"
    assert decimal(Fraction(15, 10**7)) == "0.000002"
    assert decimal(Fraction(-1, 10**9)) == "0.000000"


def test_attempts_are_averaged_within_a_task_and_tasks_equally() -> None:
    row = aggregate([result("a", Outcome.SOLVED)] * 3 + [result("a", Outcome.FAILED)] + [result("b", Outcome.FAILED)])
    assert row.pass_at_1.value == "0.375000"
    assert (row.planned, row.counted, row.solved) == (5, 5, 3)


def test_excluded_outcomes_leave_the_denominator_and_stand_beside_it() -> None:
    cells = [result("a", Outcome.SOLVED), result("a", Outcome.INFRA), result("b", Outcome.ERRORED)]
    row = aggregate(cells)
    assert row.pass_at_1.value == "1.000000"
    assert row.pass_at_1_raw.value == "0.250000"
    assert row.excluded == {Outcome.ERRORED: 1, Outcome.INFRA: 1}
    assert (row.counted, row.tasks, row.tasks_counted, row.incomplete) == (1, 2, 1, True)
    assert row.f.of == 1


def test_ten_percent_excluded_is_still_complete() -> None:
    cells = [result("a", Outcome.SOLVED)] * 9 + [result("a", Outcome.UNAVAILABLE)]
    assert not aggregate(cells).incomplete
    assert aggregate([*cells, result("a", Outcome.UNAVAILABLE)]).incomplete


def test_nothing_that_counts_has_no_rate() -> None:
    row = aggregate([result("a", Outcome.INFRA)])
    assert row.pass_at_1.value is None
    assert row.pass_at_1_raw.value == "0.000000"
    assert row.f.value is None
    assert row.f.reason


def test_a_mean_with_a_missing_part_is_none_beside_what_there_is() -> None:
    one = mean([[known(Fraction(1, 2)), missing("no scan")], [known(Fraction(1))]])
    assert one.value is None
    assert one.reason == "no scan"
    assert (one.over_available, one.available, one.of) == ("0.750000", 2, 3)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(Outcome)), min_size=1, max_size=30))
def test_every_planned_cell_is_in_exactly_one_count(cells: list[tuple[str, Outcome]]) -> None:
    row = aggregate([result(task, outcome) for task, outcome in cells])
    assert sum(row.outcomes.values()) == row.planned == len(cells)
    assert row.counted + sum(row.excluded.values()) == row.planned
    assert all(not in_denominator(outcome) for outcome in row.excluded)
    if row.pass_at_1.value is not None and row.pass_at_1_raw.value is not None and row.tasks == row.tasks_counted:
        assert Fraction(row.pass_at_1_raw.value) <= Fraction(row.pass_at_1.value) + Fraction(1, 10**6)


def test_retries_are_in_the_totals_and_abandoned_tries_make_them_unknown(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    of = plan(2, 2, 1)
    retried, died = of.cells()[0], of.cells()[1]
    card = make_card(
        make_evidence(
            store,
            of,
            {retried: [Attempt(Outcome.INFRA, None, joules=7), Attempt(joules=5)], died: [None, Attempt(joules=4)]},
        ),
        MADE,
    )
    first, second = card.measured.solvers["a0"], card.measured.solvers["a1"]
    assert (first.energy.total_uj, first.retried_uj, first.retries, first.tries) == (17_000_000, 7_000_000, 1, 3)
    assert first.energy.per_resolved_uj == 8_500_000
    assert (second.energy.total_uj, second.abandoned, second.retried_uj) == (None, 1, None)
    assert (second.energy.at_least_uj, second.energy.covered, second.energy.attempts) == (9_000_000, 2, 3)
    assert total(second) == "≥9.000 (2/3 known)"
    assert [one.state for one in card.stamp.evidence].count(TryState.ABANDONED) == 1


def test_an_attempt_whose_solver_never_ran_costs_nothing_and_has_no_time(tmp_path: Path) -> None:
    of = plan(1, 2, 1)
    card = make_card(make_evidence(LocalStore(tmp_path), of, {of.cells()[0]: [Attempt(Outcome.UNAVAILABLE)]}), MADE)
    solver = card.measured.solvers["a0"]
    assert (solver.energy.attempts, solver.energy.total_uj) == (1, 5_000_000)
    assert card.measured.cells[0].wall_us is None
    assert card.measured.cells[0].energy is None


def test_nothing_resolved_has_no_joules_per_resolved_but_a_bound(tmp_path: Path) -> None:
    of = plan(1, 1, 1)
    lost = {of.cells()[0]: [Attempt(Outcome.FAILED, (False,))]}
    solver = make_card(make_evidence(LocalStore(tmp_path), of, lost), MADE).measured.solvers["a0"]
    assert solver.energy.per_resolved_uj is None
    assert solver.energy.per_resolved_at_least_uj == 5_000_000
    assert per_resolved(solver).startswith(">5.000")


def test_f_of_every_kind_of_end(tmp_path: Path) -> None:
    of = plan(1, 5, 1)
    ends = [
        Attempt(Outcome.PARTIAL, (True, False)),
        Attempt(Outcome.FAILED, (True, True), (True, False)),
        Attempt(Outcome.TIMEOUT, (True, True), kind="wall"),
        Attempt(Outcome.REJECTED, None, kind="bad_path"),
        Attempt(Outcome.INFRA, None),
    ]
    evidence = make_evidence(LocalStore(tmp_path), of, {c: [a] for c, a in zip(of.cells(), ends, strict=True)})
    core = make_card(evidence, MADE).core
    assert [cell.f.figure.value for cell in core.cells] == ["0.500000", "0.000000", "1.000000", "0.000000", None]
    assert core.aggregates["a0"].f.value == "0.375000"
    assert all(cell.combined.value is None and "C is unavailable" in cell.combined.reason for cell in core.cells)


def test_a_card_says_what_it_must(tmp_path: Path) -> None:
    of = plan(1, 1, 1)
    card = make_card(make_evidence(LocalStore(tmp_path), of, {}), MADE)
    assert card.stamp.audit.status is AuditStatus.UNVERIFIABLE
    assert card.stamp.audit.channels["web"].none == 1
    assert [(one.trust.value, one.groups) for one in card.stamp.oracles] == [("host_held", 3)]
    assert any("dry run" in one for one in card.stamp.limits)
    report = make_report(card)
    text = "\n".join([*report.head, *report.notes, report.last])
    for words in ("mode dry", "provider none", "not of readiness for production", "vouched for by its publisher alone"):
        assert words in text
    assert report.last == f"card {card.id}"


def test_a_hostile_reason_is_shown_tame(tmp_path: Path) -> None:
    of = plan(1, 1, 1)
    evidence = make_evidence(LocalStore(tmp_path), of, {})
    hostile = {
        name: record.model_copy(update={"reason": "\x1b[2J\u202e evil\nline"})
        for name, record in evidence.records.items()
    }
    card = make_card(type(evidence)(evidence.plan, evidence.tries, hostile), MADE)
    shown = [cell for table in make_report(card).tables for row in table.rows for cell in row]
    assert not any(ch in cell for cell in shown for ch in "\x1b\u202e\n")


def test_what_is_known_against_the_runtime_is_one_note(tmp_path: Path) -> None:
    card = make_card(make_evidence(LocalStore(tmp_path), plan(), {}), MADE)
    [note] = [note for note in make_report(card).notes if note.startswith("runc ")]
    assert note.startswith("runc 1.1.5+ds1: upstream versions this old have CVE-2024-21626, CVE-2025-31133, ")
    assert "backported" in note
