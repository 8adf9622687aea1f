"""Two cards are compared only where that means something, over the cells that both scored; each gap has its reason."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import GateError, UserError, VerifyError
from harness.outcomes import Outcome
from harness.records import (
    ExecutionMode,
    ImageRef,
    Judge,
    JudgeKind,
    Judging,
    Plan,
    RunMode,
    SolverRef,
    SuiteRef,
    TaskRef,
)
from harness.store import LocalStore
from scoring.board import Board, board_of, gathered, scored
from scoring.card import Card, make_card
from scoring.compare import Change, Comparison, Verdict, compare
from scoring.evidence import Evidence
from scoring.prices import PriceTable
from scoring.reading import read_board
from scoring.stamp import price_stamp
from scoring.statistics.paired import paired
from tests.card_rig import MADE, Attempt, make_evidence, replace_run
from tests.cli_rig import trialbox
from tests.plans import ZERO, plan

ONE = "sha256:" + "1" * 64
WON, LOST = Attempt(), Attempt(Outcome.FAILED, (False, False))
HALF = Attempt(Outcome.PARTIAL, (True, False))
GONE = Attempt(Outcome.INFRA, None)


def board(folder: Path, of: Plan, tries: dict[Any, list[Attempt | None]] | None = None, **made: object) -> Board:
    return board_of(card(folder, of, tries, **made))


def card(folder: Path, of: Plan, tries: dict[Any, list[Attempt | None]] | None = None, **made: object) -> Card:
    return make_card(make_evidence(LocalStore(folder / "blobs"), of, tries or {}), replace_run(MADE, **made))


def changed(of: Plan, **changes: object) -> Plan:
    return of.model_copy(update=changes)


def judging(protocol: str = ZERO, lab: str = "elsewhere", kind: JudgeKind = JudgeKind.MODEL) -> Judging:
    return Judging(protocol=protocol, kind=kind, panel=(Judge(model="m", lab=lab),))


def task(name: str, score: str = ZERO) -> TaskRef:
    return TaskRef(suite="s", suite_version="1.0.0", task=name, score_hash=score, authoring_hash=ZERO)


DRIFTED = ImageRef(name="python", id=ZERO, lock=ZERO, drift=True)
ASKING = SolverRef(name="a0", kind="cli", manifest=ZERO, model="claude-x", provider="anthropic", billing="api")
BASE = plan()
APART: list[tuple[str, Plan, Plan]] = [
    ("suite", BASE, changed(BASE, suite=SuiteRef(name="s", version="1.0.1", hash=ZERO))),
    ("suite", BASE, changed(BASE, suite=SuiteRef(name="s", version="1.0.0", hash=ONE))),
    ("selected tasks: only on the first card: t1", BASE, changed(BASE, tasks=BASE.tasks[:1])),
    ("selected tasks: only on the second card: t9", BASE, changed(BASE, tasks=(*BASE.tasks, task("t9")))),
    ("selected tasks: of another score hash: t1", BASE, changed(BASE, tasks=(BASE.tasks[0], task("t1", ONE)))),
    ("formula", BASE, changed(BASE, formula=ONE)),
    ("judge protocol", BASE, changed(BASE, judging=judging())),
    ("judge protocol", changed(BASE, judging=judging(ONE)), changed(BASE, judging=judging())),
    ("judge panel", changed(BASE, judging=judging(lab="here")), changed(BASE, judging=judging())),
    ("judge panel", changed(BASE, judging=judging(kind=JudgeKind.STUB)), changed(BASE, judging=judging())),
    ("image drift", BASE, changed(BASE, images=(DRIFTED,))),
    ("mode and provider", BASE, changed(BASE, mode=RunMode.REAL, provider="local")),
    ("mode and provider", changed(BASE, mode=RunMode.REAL, provider="scripted"), changed(BASE, mode=RunMode.REAL)),
]


@pytest.mark.parametrize(("named", "one", "two"), APART)
def test_cards_that_do_not_belong_together_are_refused_by_name(
    tmp_path: Path, named: str, one: Plan, two: Plan
) -> None:
    for first, second in ((one, two), (two, one)):
        with pytest.raises(GateError) as caught:
            compare(board(tmp_path, first), board(tmp_path, second))
        words = named if (first, second) == (one, two) else named.split(":", maxsplit=1)[0]
        assert words in caught.value.problem
        assert ";" not in caught.value.problem, "one reason, one line"


def test_a_panel_must_be_neutral_over_both_boards(tmp_path: Path) -> None:
    mine = changed(BASE, judging=judging(lab="anthropic"))
    theirs = changed(mine, solvers=(ASKING, BASE.solvers[1]))
    compare(board(tmp_path, mine), board(tmp_path, mine))
    for first, second in ((mine, theirs), (theirs, mine)):
        with pytest.raises(GateError, match="not neutral: anthropic made a judge and a model"):
            compare(board(tmp_path, first), board(tmp_path, second))


def test_all_that_differs_is_said_at_once(tmp_path: Path) -> None:
    other = changed(BASE, formula=ONE, mode=RunMode.REAL, suite=SuiteRef(name="s", version="2.0.0", hash=ZERO))
    with pytest.raises(GateError) as caught:
        compare(board(tmp_path, BASE), board(tmp_path, other))
    assert [one.split(":")[0] for one in caught.value.problem.split("; ")] == ["suite", "formula", "mode and provider"]


def test_only_cells_scored_on_both_sides_are_paired_and_counted(tmp_path: Path) -> None:
    of = plan(1, 3, 2)
    cells = of.cells()
    first = board(tmp_path, of, {cells[0]: [GONE], cells[1]: [LOST], cells[2]: [HALF]})
    second = board(tmp_path, of, {cells[2]: [WON], cells[4]: [GONE]})
    (pair,) = compare(first, second).pairs
    assert (pair.cells, pair.planned_first, pair.planned_second) == (4, 6, 6)
    assert [row.cells for row in pair.tasks] == [1, 1, 2]
    assert pair.gained == ("t1", "t2")
    assert [row.flipped for row in pair.tasks] == [False, True, False]
    assert [(row.first_solved, row.second_solved) for row in pair.tasks] == [(1, 1), (0, 1), (1, 2)]
    assert (pair.tasks[2].first_f, pair.tasks[2].second_f) == ("0.750000", "1.000000")
    assert pair.tasks[0].change is Change.SAME
    solved = pair.solved.paired
    assert solved is not None
    assert (solved.tasks, solved.difference) == (3, "0.500000")
    assert (pair.lost, compare(second, first).pairs[0].lost) == ((), ("t1", "t2"))


def test_the_paired_figure_is_the_statistics_module_s_of_the_second_minus_the_first(tmp_path: Path) -> None:
    of = plan(1, 6, 1)
    first = board(tmp_path, of, {cell: [LOST] for cell in of.cells()})
    second = board(tmp_path, of, {of.cells()[0]: [LOST]})
    expected = paired(
        {f"t{n}": [Fraction(n > 0)] for n in range(6)},
        {f"t{n}": [Fraction(0)] for n in range(6)},
    )
    better, worse = compare(first, second), compare(second, first)
    assert better.pairs[0].solved.paired == expected
    assert better.pairs[0].verdict is expected.verdict is Verdict.BETTER
    assert worse.pairs[0].verdict is Verdict.WORSE
    assert (better.worse, worse.worse) == (False, True)


def test_a_card_against_itself_is_not_separated_and_says_so(tmp_path: Path) -> None:
    one = board(tmp_path, BASE, {BASE.cells()[0]: [HALF]})
    found = compare(one, one)
    assert all(pair.verdict is Verdict.NOT_SEPARATED for pair in found.pairs)
    assert "both are the same card" in found.notes
    assert {row.difference for pair in found.pairs for row in pair.measured if row.difference} == {"0.000000"}


def test_nothing_scored_on_both_sides_is_said_and_is_no_difference(tmp_path: Path) -> None:
    of = plan(1, 2, 1)
    cells = of.cells()
    found = compare(board(tmp_path, of, {cells[0]: [GONE]}), board(tmp_path, of, {cells[1]: [GONE]}))
    (pair,) = found.pairs
    assert (pair.cells, pair.adjusted_p, pair.verdict) == (0, None, Verdict.NOT_SEPARATED)
    assert {one.reason for one in pair.differences} == {"no cell was scored on both sides"}


def test_several_pairs_are_held_together_by_holm(tmp_path: Path) -> None:
    of = plan(4, 6, 1)
    lost = {cell: [LOST] for cell in of.cells() if cell.solver == "a0"}
    found = compare(board(tmp_path, of, lost), board(tmp_path, of))
    alone = compare(board(tmp_path, of, lost), board(tmp_path, of), ["a0"])
    p_alone, p_together = alone.pairs[0].adjusted_p, found.pairs[0].adjusted_p
    assert (p_alone, p_together) == ("0.014306", "0.057224"), "the paired test's, which the interval is of too"
    assert (alone.pairs[0].verdict, found.pairs[0].verdict) == (Verdict.BETTER, Verdict.NOT_SEPARATED)
    assert alone.only_first == alone.only_second == ("a1", "a2", "a3")


@pytest.mark.parametrize("cells", [slice(0, 0), slice(1, None), [*range(8), 0]], ids=["none", "fewer", "twice"])
def test_cells_that_are_not_the_planned_ones_are_refused(tmp_path: Path, cells: Any) -> None:
    """Digests can be worked out anew by anybody."""
    one = card(tmp_path, BASE)
    kept = one.core.cells[cells] if isinstance(cells, slice) else tuple(one.core.cells[n] for n in cells)
    other = one.model_copy(update={"core": one.core.model_copy(update={"cells": kept})})
    with pytest.raises(VerifyError, match="the planned ones"):
        board_of(other)


@pytest.mark.parametrize("text", ["1/0", "1e999999999", "NaN", "inf", "-1/2", "3/2", "1/" + "7" * 5000, "", "\u0661"])
def test_a_figure_that_is_none_is_refused_at_once(text: str) -> None:
    """A board is read without a card's models; such a text made it run for ever, or end with a traceback."""
    with pytest.raises(VerifyError, match="no figure"):
        scored("solved", "1/1", "1/1", "1/1", text, None)
    with pytest.raises(VerifyError, match="no figure"):
        scored("solved", "1/1", None, None, None, "100.5" if text == "3/2" else text)


def test_a_forged_number_of_attempts_is_not_counted_up_to() -> None:
    with pytest.raises(VerifyError, match="the planned ones"):
        gathered(changed(BASE, attempts=2**53 - 1), [])


def test_several_pairs_are_judged_by_the_rule_of_a_card_s_own_comparisons(tmp_path: Path) -> None:
    """Six of ten tasks lost and none won: with McNemar's p-value, 0.03125 times three, it would be no difference."""
    of = plan(3, 10, 1)
    lost = {cell: [LOST] for cell in of.cells() if cell.solver == "a0" and cell.task < "t6"}
    lost |= {cell: [LOST] for cell in of.cells() if (cell.solver, cell.task) == ("a1", "t0")}
    one = card(tmp_path, of, lost)
    own = {(pair.first, pair.second): (pair.p_adjusted, pair.verdict) for pair in one.core.comparisons}
    found = compare(board_of(one), board_of(one), ["a1:a0", "a2:a0", "a2:a1"])
    assert {(pair.second, pair.first): (pair.adjusted_p, pair.verdict) for pair in found.pairs} == own
    assert own["a0", "a2"][1] is Verdict.WORSE


def test_solvers_are_matched_by_name_or_as_told(tmp_path: Path) -> None:
    colons = changed(BASE, solvers=(SolverRef(name="x:y", kind="command", manifest=ZERO), BASE.solvers[1]))
    one, two = board(tmp_path, BASE), board(tmp_path, colons)
    assert [(p.first, p.second) for p in compare(one, two).pairs] == [("a1", "a1")]
    assert [(p.first, p.second) for p in compare(one, two, ["a0:x:y", "a1:x:y"]).pairs] == [
        ("a0", "x:y"),
        ("a1", "x:y"),
    ]
    assert [(p.first, p.second) for p in compare(two, two, ["x:y"]).pairs] == [("x:y", "x:y")]
    for wrong in ("a0", "a9", "a0:a9", "x:y:a0", ":", ""):
        with pytest.raises(UserError, match="--solver"):
            compare(one, two, [wrong])
    alone = changed(BASE, solvers=(ASKING.model_copy(update={"name": "z"}),))
    with pytest.raises(UserError, match="no solver is on both cards"):
        compare(one, board(tmp_path, alone))


# ---------------------------------------------------------------------------------------------------- measured values


def differences(found: Comparison) -> dict[str, tuple[str | None, str]]:
    return {one.name: (one.difference, one.reason) for one in found.pairs[0].measured}


def test_times_and_energies_of_like_runs_have_a_difference(tmp_path: Path) -> None:
    of = plan(1, 1, 1)
    (cell,) = of.cells()
    long = {cell: [Attempt(joules=90, seconds=30)]}
    found = compare(board(tmp_path, of, {cell: [Attempt(joules=60, seconds=40)]}), board(tmp_path, of, long))
    assert found.withheld == ()
    seen = differences(found)
    assert seen["wall, median"] == ("-10.000000", "")
    assert seen["energy per resolved"] == seen["energy, all tries"] == ("30.000000", "")


HOST = MADE.host
OTHER = MADE.harness.model_copy(update={"version": "0.2.0"})
DIRTY = MADE.harness.model_copy(update={"dirty": True})


@pytest.mark.parametrize(
    ("named", "made"),
    [
        ("hardware", {"host": HOST.model_copy(update={"cpus": 64})}),
        ("hardware", {"host": HOST.model_copy(update={"cpu_model": "Other CPU"})}),
        ("hardware", {"host": HOST.model_copy(update={"memory_bytes": 1 << 40})}),
        ("harness version", {"harness": OTHER}),
        ("harness version", {"harness": DIRTY}),
        ("concurrency", {"concurrency": 1}),
    ],
)
def test_times_and_energies_of_unlike_runs_are_withheld_with_the_reason(
    tmp_path: Path, named: str, made: dict[str, object]
) -> None:
    found = compare(board(tmp_path, BASE), board(tmp_path, BASE, **made))
    assert [one.split(":")[0] for one in found.withheld] == [named]
    for name, (difference, reason) in differences(found).items():
        assert difference is None, name
        assert named in reason
    assert found.pairs[0].solved.paired is not None, "scores are compared all the same"
    assert found.pairs[0].measured[0].first is not None, "both values are shown"


def test_another_execution_mode_or_version_of_the_agent_withholds_too(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "blobs")
    sealed = make_evidence(store, BASE, {})
    elsewhere = {
        name: one.model_copy(update={"mode": ExecutionMode.SEALED_VM_ENGINE}) for name, one in sealed.records.items()
    }
    other = board_of(make_card(Evidence(BASE, sealed.tries, elsewhere), MADE))
    found = compare(board(tmp_path, BASE), other)
    assert found.withheld == ("execution mode: sealed against sealed_vm_engine",)
    versions = [
        changed(BASE, solvers=(ASKING.model_copy(update={"harness": "agent", "harness_version": v}), BASE.solvers[1]))
        for v in ("1.0", "2.0")
    ]
    found = compare(*(board(tmp_path, of) for of in versions))
    assert differences(found)["wall, median"] == (None, "harness version: agent 1.0 against 2.0")
    assert found.pairs[1].measured[0].difference == "0.000000", "the other solver is the same on both"


def test_a_marked_energy_has_no_difference(tmp_path: Path) -> None:
    of = plan(1, 1, 1)
    (cell,) = of.cells()
    found = compare(board(tmp_path, of), board(tmp_path, of, {cell: [Attempt(joules=0)]}))
    assert differences(found)["energy, all tries"] == (None, "a0: unreliable: below_floor")
    died = compare(board(tmp_path, of), board(tmp_path, of, {cell: [None, Attempt()]}))
    assert "some attempts have no energy figure" in differences(died)["energy, all tries"][1]


def test_costs_are_compared_only_by_one_price_table(tmp_path: Path) -> None:
    of = changed(plan(1, 1, 1), solvers=(ASKING,), mode=RunMode.REAL, provider="anthropic")
    made = make_evidence(LocalStore(tmp_path / "blobs"), of, {})
    used = dict.fromkeys(made.records, ())
    boards = []
    for date in ("2026-01-01", "2026-02-02"):
        table = PriceTable(schema_version=1, date=date, unit="USD per million tokens", note="n", prices=())
        boards.append(board_of(make_card(replace(made, used=used, prices=table), MADE)))
        assert price_stamp(table).date == date
    (name,) = [name for name in differences(compare(boards[0], boards[0])) if name.startswith("cost, all")]
    assert differences(compare(boards[0], boards[0]))[name] == ("0.000000", "")
    difference, reason = differences(compare(*boards))[name]
    assert difference is None
    assert reason.startswith("price table: sha256:")


# --------------------------------------------------------------------------------------------- straight from the bytes

attempts = st.sampled_from([WON, LOST, HALF, GONE, Attempt(Outcome.TIMEOUT, (False, True), kind="wall")])


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_board_from_bytes_is_the_board_of_the_card(tmp_path: Path, data: st.DataObject) -> None:
    of = plan(*(data.draw(st.integers(1, 3)) for _ in range(3)))
    tries = {cell: [data.draw(attempts)] for cell in of.cells()}
    made = card(tmp_path, of, tries)
    assert from_bytes(made.to_bytes(), made.id) == board_of(made)


def from_bytes(data: bytes, expected_id: str | None = None) -> Board:
    with NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        return read_board(Path(file.name), "it", expected_id)


@cache
def small() -> bytes:
    with TemporaryDirectory() as folder:
        return card(Path(folder), plan(1, 1, 1)).to_bytes()


@settings(max_examples=100, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_changed_byte_is_noticed_here_too(place: float, byte: int) -> None:
    whole = small()
    at = int(place * len(whole))
    broken = whole[:at] + bytes([byte]) + whole[at + 1 :]
    if broken == whole:
        return
    with pytest.raises(VerifyError):
        from_bytes(broken)


def test_another_card_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    made = card(tmp_path, plan(1, 1, 1))
    with pytest.raises(VerifyError, match=f"this is card {made.id}, not {ONE}"):
        from_bytes(made.to_bytes(), ONE)


def test_names_that_sort_otherwise_in_a_card_are_read_all_the_same(tmp_path: Path) -> None:
    names = ("\U0001f600", "\ufb33", "é")
    of = changed(plan(), solvers=tuple(SolverRef(name=name, kind="builtin", manifest=ZERO) for name in names))
    made = card(tmp_path, of)
    assert from_bytes(made.to_bytes()) == board_of(made)


# --------------------------------------------------------------------------------------------------------- the command


def test_the_command_takes_ids_and_files_and_its_exit_code_says(tmp_path: Path) -> None:
    home = tmp_path / "state"
    of = plan(2, 6, 1)
    folder = home / "cards"
    folder.mkdir(parents=True)
    lost = {cell: [LOST] for cell in of.cells() if cell.solver == "a0"}
    good, bad = card(tmp_path, of), card(tmp_path, of, lost, run_id="ba9876543210", concurrency=1)
    for one in (good, bad):
        (folder / f"{one.id[7:]}.json").write_bytes(one.to_bytes())
    file = tmp_path / "mine"
    file.write_bytes(good.to_bytes())
    for name in (good.id[7:20], "mine", str(file)):
        ran = trialbox(home, "compare", name, bad.id, "--solver", "a0")
        assert ran.code == 0, ran.err
        assert ran.out.splitlines()[-1] == "a0: worse"
    assert "every difference is B minus A" in ran.out
    assert "times and energies are not compared: concurrency: 2 against 1" in ran.out
    told = trialbox(home, "compare", good.id, bad.id, "--solver", "a0", "--fail-on", "worse", "--json")
    assert (told.code, told.json["worse"], told.json["pairs"][0]["lost"]) == (1, True, [f"t{n}" for n in range(6)])
    assert told.json["pairs"][0]["cells"] == 6
    assert trialbox(home, "compare", bad.id, good.id, "--fail-on", "worse").code == 0
    other = card(tmp_path, changed(of, formula=ONE))
    (folder / f"{other.id[7:]}.json").write_bytes(other.to_bytes())
    refused = trialbox(home, "compare", good.id, "--json")
    assert (refused.code, refused.json["error"]["exit_code"]) == (4, 4)
    assert refused.json["error"]["problem"].startswith("formula: ")
    assert trialbox(home, "compare", good.id, bad.id, "--fail-on", "better").code == 2
    file.write_bytes(good.to_bytes().replace(b'"outcome":"solved"', b'"outcome":"failed"', 1))
    damaged = trialbox(home, "compare", str(file), good.id)
    assert damaged.code == 2
    assert "core.cells: was changed" in damaged.line
