"""The frontiers of a run: in each currency, one for each kind of figure that its solvers have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from harness.outcomes import Outcome, in_denominator
from harness.records import SelectorKind, SolverRef
from scoring.evidence import Evidence
from scoring.expense import Axis, Expense, expense
from scoring.figures import by_task, task_mean
from scoring.frontier import Contestant, Frontier, frontier
from scoring.selection import Selected
from scoring.statistics.chances import pass_at


def frontiers(evidence: Evidence, selected: Selected | None) -> tuple[Frontier, ...]:
    """Every frontier of a run.

    Raises:
        KeyError: a planned cell has not ended.
    """
    tasks = [task.task for task in evidence.plan.tasks]
    ended = _outcomes(evidence)
    found = []
    for axis in Axis:
        groups: dict[str, list[Contestant]] = {}
        for solver in evidence.plan.solvers:
            spent = expense(evidence, solver, axis)
            if spent is not None:
                groups.setdefault(spent.group, []).extend(_contestants(evidence, solver, spent, ended, selected))
        found += [frontier(axis, group, contestants, tasks) for group, contestants in groups.items()]
    return tuple(found)


Ended = Mapping[str, Mapping[str, Mapping[int, Outcome]]]
"""By solver, task and attempt."""


def _outcomes(evidence: Evidence) -> Ended:
    found: dict[str, dict[str, dict[int, Outcome]]] = {solver.name: {} for solver in evidence.plan.solvers}
    for cell in evidence.plan.cells():
        found[cell.solver].setdefault(cell.task, {})[cell.attempt] = evidence.final(cell).outcome
    return found


def _contestants(
    evidence: Evidence, solver: SolverRef, spent: Expense, ended: Ended, selected: Selected | None
) -> Iterator[Contestant]:
    """A solver by its attempts, and by what a selector makes of them, which costs all of a group's."""
    attempts, mine = evidence.plan.attempts, ended[solver.name]
    sums = spent.by_task()
    each = {task: sums.get(task, Fraction()) / attempts for task in mine} if spent.parts else {}
    single = {
        task: Fraction(counted.count(Outcome.SOLVED), len(counted))
        for task, attempts_of in mine.items()
        if (counted := [one for one in attempts_of.values() if in_denominator(one)])
    }
    yield _contestant(solver.name, solver, single, each, spent)
    if selected is not None:
        n = selected.rollouts
        name = f"{solver.name}, {selected.rows[solver.name].name}"
        yield _contestant(
            name, solver, _selected(solver.name, mine, selected), {task: one * n for task, one in each.items()}, spent
        )


def _contestant(
    name: str, solver: SolverRef, rates: Mapping[str, Fraction], each: Mapping[str, Fraction], spent: Expense
) -> Contestant:
    return Contestant(name, solver.name, rates, each, spent.covered, len(spent.parts), spent.reason)


def _selected(solver: str, mine: Mapping[str, Mapping[int, Outcome]], selected: Selected) -> dict[str, Fraction]:
    """By task, the rate of what the selector picked; the oracle's is pass@N, where enough attempts count."""
    if selected.selector is SelectorKind.ORACLE:
        counted = {task: [one for one in ended.values() if in_denominator(one)] for task, ended in mine.items()}
        return {
            task: rate
            for task, ended in counted.items()
            if (rate := pass_at(selected.rollouts, len(ended), ended.count(Outcome.SOLVED))) is not None
        }
    picked = by_task(
        (pick.task, Fraction(outcome is Outcome.SOLVED))
        for pick in selected.picks
        if pick.solver == solver and pick.picked is not None and in_denominator(outcome := mine[pick.task][pick.picked])
    )
    return {task: mean for task, values in picked.items() if (mean := task_mean([values])) is not None}
