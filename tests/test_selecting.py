"""Best of N: what the visible-tests selector sees and picks, what the oracle is told as, and that all N are paid."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ahead import Ahead
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord, SelectingRecord
from harness.grade import GRADE, GradingRoom
from harness.outcomes import Outcome
from harness.records import BestOf, Cell, Plan, SelectorKind, to_value
from harness.selecting import NO_TESTS, look, size_of
from harness.store import LocalStore
from harness.suites.load import load_suite
from harness.suites.task import Task
from harness.suites.tree import REGULAR, Entry, Tree
from scoring.card import make_card
from scoring.evidence import Evidence
from scoring.report.text import make_report
from scoring.selection import Rule, select
from tests.card_rig import MADE, USE, Attempt, make_evidence
from tests.cli_rig import trialbox
from tests.conftest import ROOT
from tests.plans import plan

FILES = ("tests/test_x.py",)


def best_of(n: int, selector: SelectorKind, groups: int = 1, tasks: int = 1) -> Plan:
    made = plan(solvers=1, tasks=tasks, attempts=n * groups)
    return made.model_copy(update={"best_of": BestOf(rollouts=n, selector=selector)})


def seen(passed: int, size: int, files: tuple[str, ...] = FILES) -> SelectingRecord:
    return SelectingRecord(files=files, tests=9, passed=passed, size=size, use=USE, wall_us=1)


def with_seen(evidence: Evidence, told: Mapping[Cell, SelectingRecord]) -> Evidence:
    """The evidence of attempts that went through the selector's stage too."""

    def add(record: AttemptRecord) -> AttemptRecord:
        return record.model_copy(update={"selecting": told.get(record.cell)})

    return dataclasses.replace(evidence, records={name: add(one) for name, one in evidence.records.items()})


def run(folder: Path, of: Plan, outcomes: list[Outcome], told: list[SelectingRecord | None] | None = None) -> Evidence:
    """A run whose attempts ended so, and of which the selector saw that."""
    cells = of.cells()
    failed = {Outcome.FAILED: (False, False)}
    tries: dict[Cell, list[Attempt | None]] = {
        cell: [Attempt(one, failed.get(one, (True, True)))] for cell, one in zip(cells, outcomes, strict=True)
    }
    evidence = make_evidence(LocalStore(folder / "blobs"), of, tries)
    return with_seen(evidence, {cell: one for cell, one in zip(cells, told or [], strict=False) if one is not None})


def test_a_plan_without_a_selector_has_the_id_that_it_had() -> None:
    of = plan()
    assert "best_of" not in to_value(of)
    assert of.model_copy(update={"best_of": BestOf(rollouts=2, selector=SelectorKind.ORACLE)}).id != of.id


@pytest.mark.parametrize(
    ("told", "picked", "rule"),
    [
        ([seen(1, 5), seen(3, 50), seen(2, 1)], 2, Rule.VISIBLE_TESTS),
        ([seen(3, 50), seen(3, 7), seen(3, 8)], 2, Rule.VISIBLE_TESTS),
        ([seen(3, 7), seen(3, 7), seen(3, 7)], 1, Rule.VISIBLE_TESTS),
        ([None, seen(0, 9), seen(0, 10)], 2, Rule.VISIBLE_TESTS),
        ([None, seen(0, 9, ()), seen(0, 1, ())], 2, Rule.FIRST_ANSWER),
        ([None, None, None], 1, Rule.NO_ANSWER),
    ],
)
def test_what_is_picked(tmp_path: Path, told: list[SelectingRecord | None], picked: int, rule: Rule) -> None:
    evidence = run(tmp_path, best_of(3, SelectorKind.VISIBLE_TESTS), [Outcome.FAILED] * 3, told)
    found = select(evidence)
    assert found is not None
    assert [(one.picked, one.rule, one.group) for one in found.picks] == [(picked, rule, 1)]


def test_the_hidden_grading_has_no_say_in_what_is_picked(tmp_path: Path) -> None:
    of = best_of(3, SelectorKind.VISIBLE_TESTS)
    told: list[SelectingRecord | None] = [seen(2, 4), seen(3, 4), seen(2, 3)]
    for number, outcomes in enumerate(itertools.product([Outcome.SOLVED, Outcome.FAILED, Outcome.TIMEOUT], repeat=3)):
        found = select(run(tmp_path / str(number), of, list(outcomes), told))
        assert found is not None and found.picks[0].picked == 2
        row = found.rows["a0"]
        won = outcomes[1] is Outcome.SOLVED
        assert (row.name, row.solved, row.figure.fraction) == ("best of 3 by visible-tests", int(won), Fraction(won))


def test_attempts_that_do_not_count_leave_their_group_short_and_a_group_of_them_out(tmp_path: Path) -> None:
    of = best_of(2, SelectorKind.VISIBLE_TESTS, groups=2)
    ended = [Outcome.ERRORED, Outcome.SOLVED, Outcome.ERRORED, Outcome.INFRA]
    found = select(run(tmp_path, of, ended, [None, seen(1, 1), None, None]))
    assert found is not None
    row = found.rows["a0"]
    assert [one.picked for one in found.picks] == [2, None]
    assert (row.groups, row.counted, row.short, row.solved) == (2, 1, 2, 1)
    assert (row.figure.value, row.raw.value) == ("1.000000", "0.500000")


def test_the_oracle_picks_nothing_and_is_told_as_pass_at_n(tmp_path: Path) -> None:
    of = best_of(3, SelectorKind.ORACLE, tasks=2)
    order = [Outcome.SOLVED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED]
    evidence = run(tmp_path, of, order)
    found = select(evidence)
    assert found is not None and found.picks == ()
    row = found.rows["a0"]
    assert (row.name, row.solved, row.groups, row.figure.value) == ("pass@3", 1, 2, "0.500000")
    short = select(run(tmp_path / "short", of, [Outcome.SOLVED, *[Outcome.ERRORED] * 5]))
    assert short is not None
    assert short.rows["a0"].figure.reason == "task t0 has fewer than 3 attempts that count"
    assert short.rows["a0"].raw.value == "0.500000"
    assert "best of" not in str(make_report(make_card(evidence, MADE)))


@given(st.lists(st.booleans(), min_size=4, max_size=8).filter(lambda many: len(many) % 2 == 0))
def test_pass_at_n_is_the_mean_over_all_choices_of_n(tmp_path_factory: pytest.TempPathFactory, won: list[bool]) -> None:
    of = best_of(2, SelectorKind.ORACLE, groups=len(won) // 2)
    ended = [Outcome.SOLVED if one else Outcome.FAILED for one in won]
    found = select(run(tmp_path_factory.mktemp("oracle"), of, ended))
    choices = list(itertools.combinations(won, 2))
    expected = Fraction(sum(any(one) for one in choices), len(choices))
    assert found is not None and found.rows["a0"].figure.value == f"{float(expected):.6f}"


def test_all_of_them_are_paid_for_and_the_report_names_the_selector(tmp_path: Path) -> None:
    of = best_of(3, SelectorKind.VISIBLE_TESTS)
    told: list[SelectingRecord | None] = [seen(1, 4), seen(3, 4), seen(2, 3)]
    card = make_card(run(tmp_path, of, [Outcome.FAILED, Outcome.SOLVED, Outcome.FAILED], told), MADE)
    energy = card.measured.solvers["a0"].energy
    assert energy.attempts == 3 and energy.total_uj == 3 * 5_000_000
    table = next(one for one in make_report(card).tables if "all of them paid for" in one.title)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["how"], row["solved"]) == ("best of 3 by visible-tests", "1/1")
    assert row["J of all"].removeprefix("~") == row["J/solved"].removeprefix("~") == "15.000"
    assert "a0: picked t0 #2" in make_report(card).notes


# ---------------------------------------------------------------------------------------------------------- the stage


def test_a_change_s_size_is_of_lines_and_no_algorithm_s() -> None:
    before = Tree([Entry("a.py", REGULAR, b"one\ntwo\nthree\n"), Entry("gone.py", REGULAR, b"x\n")])
    moved = Tree([Entry("a.py", REGULAR, b"three\none\ntwo\n"), Entry("gone.py", REGULAR, b"x\n")])
    after = Tree([Entry("a.py", REGULAR, b"one\n2\nthree\n"), Entry("new.py", REGULAR, b"yy\n")])
    assert size_of(before, before) == size_of(before, moved) == 0
    assert size_of(before, after) == len(b"two\n2\n") + len(b"x\n") + len("gone.py") + len(b"yy\n") + len("new.py")
    assert size_of(before, after) == size_of(after, before)


def lanterns() -> Task:
    return load_suite(ROOT / "tasks/smoke").task("lantern-cues")


class _Never:
    def take(self) -> None:
        raise AssertionError("there is nothing to run")


def test_without_visible_tests_no_container_is_taken(tmp_path: Path) -> None:
    task = lanterns()
    bare = dataclasses.replace(task, spec=task.spec.model_copy(update={"visible_tests": ()}))
    found = look(_Never(), LocalStore(tmp_path), bare, task.before)  # type: ignore[arg-type]
    assert (found.reason, found.tests, found.files) == (NO_TESTS, 0, ())


@pytest.mark.engine
def test_answers_under_the_visible_tests(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, owner: str
) -> None:
    task, store = lanterns(), LocalStore(tmp_path)
    visible = "tests/test_lanterns.py"
    lies = b"import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n    yield\n"

    def under(*entries: tuple[str, bytes], without: tuple[str, ...] = ()) -> SelectingRecord:
        tree = task.before.without(without).overlay(Tree(Entry(path, REGULAR, data) for path, data in entries))
        room = Ahead(lambda: GradingRoom(engine, images["python"].handle, task, "0", owner))
        with room:
            found = look(room, store, task, tree)
            if found.observations is not None:
                beside = room.take().sandbox.run(("ls", "-A", GRADE), timeout_s=20, max_output=4096)
                assert (beside.exit_status, beside.stdout) == (0, b""), "nothing hidden is there"
        return found

    whole = under()
    assert whole.passed == whole.tests > 0 and whole.reason == ""
    assert whole.seal is not None and whole.seal.interfaces == ("lo",)
    broken = under(("lanterns/show.py", b"1/0\n"))
    assert (broken.passed, broken.tests) == (0, 0) and "could not be collected" in broken.reason
    for change in (
        under((visible, b"def test_x():\n    pass\n")),
        under(without=(visible,)),
        under(("tests/conftest.py", lies)),
    ):
        assert (change.passed, change.tests) == (whole.passed, whole.tests), "they are run as they were"
    turned = under(("pytest.ini", b"[pytest]\naddopts = -k nothing\n"))
    assert turned.passed == turned.tests == 0 and turned.reason.startswith("not run: test_config_modified: pytest.ini")
    ended = under(("lanterns/show.py", b"import os\nos._exit(0)\n"))
    assert ended.passed == 0


@pytest.mark.engine
def test_a_run_with_rollouts_picks_pays_for_all_and_verifies(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    home = tmp_path / "state"
    ran = trialbox(
        home, "run", "smoke", "--task", "lantern-cues", "--solver", "reference,noop", "--rollouts", "2", "--json"
    )
    assert ran.code == 0, ran.err
    told = ran.json["selection"]
    assert (told["selector"], told["rollouts"]) == ("visible-tests", 2)
    assert {name: (row["name"], row["solved"]) for name, row in told["rows"].items()} == {
        "reference": ("best of 2 by visible-tests", 1),
        "noop": ("best of 2 by visible-tests", 0),
    }
    for pick in told["picks"]:
        assert (pick["rule"], pick["picked"]) == ("visible_tests", 1)
        assert all(one["passed"] == one["tests"] > 0 for one in pick["rollouts"]), "the base passes what is visible"
    assert ran.json["measured"]["reference"]["tries"] == 2
    assert trialbox(home, "card", "verify", "latest").code == 0
    assert "best of 2 by visible-tests" in trialbox(home, "report", "latest").out
    out = trialbox(home, "suite", "export", "latest", "--to", "swe-bench", "--output", str(tmp_path / "out"), "--json")
    assert [line.split(", ")[-1] for line in out.json["not_carried"]["predictions.jsonl"]] == [
        "reference/lantern-cues/1",
        "noop/lantern-cues/1",
    ], "what was picked is what is exported"
    assert trialbox(home, "gc", "--json").code == 0
    assert trialbox(home, "card", "verify", "latest").code == 0, "the evidence of the stage is kept"
