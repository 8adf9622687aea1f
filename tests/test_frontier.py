"""Who is beaten by nobody: the published vector, the laws, and what is kept off and why."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.outcomes import Outcome
from harness.records import BestOf, Cell, SelectorKind
from harness.store import LocalStore
from scoring.card import make_card
from scoring.expense import Axis
from scoring.frontier import Contestant, Frontier, frontier, on_hull, undominated
from scoring.measured import make_measured
from scoring.verify import verify_card
from tests.card_rig import MADE, Attempt, make_evidence
from tests.plans import plan
from tests.test_cost_card import model_plan, whole_card

VECTOR = {"A": (100, ".30"), "B": (200, ".50"), "C": (200, ".45"), "D": (400, ".50"), "E": (300, ".55")}
VECTOR |= {"F": (1000, ".80"), "G": (600, ".60")}
POINTS = [(Fraction(spent), Fraction(rate)) for spent, rate in VECTOR.values()]


def names(places: set[int]) -> str:
    return "".join(sorted(list(VECTOR)[n] for n in places))


def test_dominance_and_hull_of_the_vector() -> None:
    assert names(undominated(POINTS)) == "ABEFG"
    assert names(on_hull(POINTS)) == "ABEF"


COORDINATE = st.tuples(st.integers(-5, 12).map(Fraction), st.integers(0, 6).map(Fraction))


@given(st.lists(COORDINATE, max_size=12))
def test_a_point_is_on_the_frontier_unless_another_one_beats_it(points: list[tuple[Fraction, Fraction]]) -> None:
    def beaten(one: tuple[Fraction, Fraction]) -> bool:
        others = [*points, (Fraction(0), Fraction(0))]  # to do nothing
        return any(o[0] <= one[0] and o[1] >= one[1] and o != one for o in others)

    assert undominated(points) == {n for n, one in enumerate(points) if not beaten(one)}
    hull = on_hull(points)
    assert hull <= undominated(points)
    assert bool(hull) == bool(undominated(points))
    for one in points:  # nothing lies above the hull
        left = [points[n] for n in hull if points[n][0] <= one[0]]
        right = [points[n] for n in hull if points[n][0] >= one[0]]
        for a in left:
            for b in right:
                if a[0] < one[0] < b[0] and not any(a[0] < points[n][0] < b[0] for n in hull):
                    assert (one[1] - a[1]) * (b[0] - a[0]) <= (b[1] - a[1]) * (one[0] - a[0])


def test_equal_points_are_both_on_it() -> None:
    assert undominated([POINTS[0], POINTS[0]]) == {0, 1} == on_hull([POINTS[0], POINTS[0]])
    assert undominated([]) == set() == on_hull([])


def test_to_solve_nothing_is_beaten_by_doing_nothing() -> None:
    assert undominated([(Fraction(1), Fraction(0)), (Fraction(5), Fraction(1, 2))]) == {1}


TASKS = [f"t{n}" for n in range(8)]


def contestant(name: str, solved: int, spent: int, reason: str = "") -> Contestant:
    return Contestant(
        name,
        name,
        {task: Fraction(n < solved) for n, task in enumerate(TASKS)},
        dict.fromkeys(TASKS, Fraction(spent)),
        8,
        8,
        reason,
    )


def test_membership_tells_a_close_call_from_a_clear_one() -> None:
    made = frontier(
        Axis.TOKENS, "g", [contestant("cheap", 3, 10), contestant("close", 4, 20), contestant("dear", 4, 90)], TASKS
    )
    cheap, close, dear = made.points
    assert cheap.frontier and float(cheap.membership or 0) == pytest.approx(1 - (5 / 8) ** 8, abs=0.02)
    assert close.frontier and 0.5 < float(close.membership or 0) < 0.8, "one task of eight makes the difference"
    assert not dear.frontier and dear.membership == "0.000000"
    assert (cheap.spent, cheap.rate, made.resamples) == ("10.000000", "0.375000", 1000)
    again = frontier(
        Axis.TOKENS, "g", [contestant("cheap", 3, 10), contestant("close", 4, 20), contestant("dear", 4, 90)], TASKS
    )
    assert again == made


def test_what_is_not_ranked_beats_nobody() -> None:
    made = frontier(
        Axis.JOULES, "g", [contestant("a", 4, 20), contestant("b", 8, 1, "unreliable: short_window")], TASKS
    )
    a, b = made.points
    assert a.frontier and not b.frontier
    assert (b.reason, b.membership, b.rate) == ("unreliable: short_window", None, "1.000000")


# ------------------------------------------------------------------------------------------------------------- of a run


def of_axis(found: tuple[Frontier, ...], axis: Axis) -> list[Frontier]:
    return [one for one in found if one.axis is axis]


def test_a_run_has_a_frontier_for_each_currency_that_it_has(tmp_path: Path) -> None:
    of = plan(2, 3, 2)
    tries = {
        cell: [
            Attempt(joules=60, seconds=30)
            if cell.solver == "a0"
            else Attempt(Outcome.FAILED, (False, False), joules=90, seconds=40)
        ]
        for cell in of.cells()
    }
    measured = make_measured(make_evidence(LocalStore(tmp_path), of, {**tries}))
    (joules,) = of_axis(measured.frontiers, Axis.JOULES)
    (wall,) = of_axis(measured.frontiers, Axis.WALL)
    assert not of_axis(measured.frontiers, Axis.TOKENS) and not of_axis(measured.frontiers, Axis.DOLLARS)
    assert [(one.name, one.frontier, one.spent) for one in joules.points] == [
        ("a0", True, "60.000000"),
        ("a1", False, "90.000000"),
    ]
    assert joules.group.startswith("counter cpu-package, host_marginal, host abababababab")
    assert [(one.rate, one.spent) for one in wall.points] == [("1.000000", "30.000000"), ("0.000000", "40.000000")]


def test_an_abandoned_try_keeps_its_solver_off_and_says_why(tmp_path: Path) -> None:
    of = plan(2, 2, 1)
    measured = make_measured(
        make_evidence(LocalStore(tmp_path), of, {of.cells()[0]: [None, Attempt(joules=60, seconds=30)]})
    )
    for axis in (Axis.JOULES, Axis.WALL):
        points = {one.name: one for made in of_axis(measured.frontiers, axis) for one in made.points}
        assert points["a0"].spent is None and not points["a0"].frontier
        assert (points["a0"].covered, points["a0"].of) == (2, 3)
        assert points["a0"].reason
    assert measured.solvers["a0"].wall_us is not None
    total = measured.solvers["a0"].wall_us
    assert (total.total, total.covered, total.of) == (None, 2, 3)
    assert total.at_least == 33_000_000
    assert "1 of 3 tries" in total.reason


@pytest.mark.parametrize("selector", list(SelectorKind))
def test_best_of_n_is_a_point_that_pays_for_all_n(tmp_path: Path, selector: SelectorKind) -> None:
    of = plan(1, 2, 2).model_copy(update={"best_of": BestOf(rollouts=2, selector=selector)})
    lost = Attempt(Outcome.FAILED, (False, False), joules=60, seconds=30)
    tries = {Cell(solver="a0", task=f"t{n}", attempt=1): [lost] for n in range(2)}
    tries |= {Cell(solver="a0", task=f"t{n}", attempt=2): [Attempt(joules=60, seconds=30)] for n in range(2)}
    store = LocalStore(tmp_path)
    card = make_card(make_evidence(store, of, {**tries}), MADE)
    (made,) = of_axis(card.measured.frontiers, Axis.JOULES)
    single, best = made.points
    assert (single.name, single.rate, single.spent) == ("a0", "0.500000", "60.000000")
    assert best.spent == "120.000000" and best.solver == "a0"
    if selector is SelectorKind.ORACLE:
        assert (best.name, best.rate) == ("a0, pass@2", "1.000000")
    else:
        assert best.name.startswith("a0, best of 2 by visible-tests")
    assert verify_card(card.to_bytes(), store, card.id).problems == ()


@pytest.mark.parametrize(("billing", "view"), [("api", "api_estimate"), ("subscription", "api_equivalent")])
def test_figures_of_different_kinds_never_share_a_frontier(tmp_path: Path, billing: str, view: str) -> None:
    """A model elsewhere has energy that nobody measured, and dollars of one view are not those of another."""
    card, store = whole_card(tmp_path, model_plan(billing=billing))
    groups = {(made.axis, made.group): [one.name for one in made.points] for made in card.measured.frontiers}
    energies = [(group, names) for (axis, group), names in groups.items() if axis is Axis.JOULES]
    assert [names for _, names in energies] == [["a0"], ["a1"]]
    assert [group.endswith(("model elsewhere, not in it", "no model")) for group, _ in energies] == [True, True]
    assert groups[Axis.DOLLARS, view] == ["a0"]
    [tokens] = [made for made in card.measured.frontiers if made.axis is Axis.TOKENS]
    [point] = tokens.points
    assert (point.spent, point.covered, point.of, point.frontier) == (None, 4, 6, False)
    assert point.reason == "2 of 6 tries are not known to the end"
    used = card.measured.solvers["a0"].tokens
    assert used is not None and (used.total, used.at_least, used.covered, used.of) == (None, 51428, 4, 6)
    assert verify_card(card.to_bytes(), store, card.id).problems == ()
