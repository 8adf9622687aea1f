"""Best of N: which attempt of each group a named selector picks, and a solver's row over the picked ones.

Attempts at a task form groups of N by their numbers: 1 to N, N+1 to 2N, and so on. ``visible-tests`` picks by what
:mod:`harness.selecting` saw: most visible tests passed, then the smaller change, then the earlier attempt. An attempt
that left no answer is picked only where none of the group did. ``oracle`` picks nothing: it would be the hidden grading
itself, so its row is pass@N (unbiased: 1 - C(n-c, N) / C(n, N) of a task's n attempts that count, c of them solved;
Chen et al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1), and never a selected score.

Nothing here looks at a cost: energy, tokens and money are over all tries, so all N are paid for wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from math import comb
from typing import assert_never

from harness.evidence import AttemptRecord
from harness.outcomes import Outcome, in_denominator
from harness.records import BestOf, Cell, Count, Record, SelectorKind
from scoring.evidence import Evidence
from scoring.figures import Figure, known, missing, task_mean


class Rule(StrEnum):
    """By what an attempt was picked."""

    VISIBLE_TESTS = "visible_tests"
    FIRST_ANSWER = "first_answer"
    """The task has no visible tests: the first attempt that left an answer."""
    NO_ANSWER = "no_answer"
    """No attempt left an answer: the first that counts."""


class Rollout(Record):
    """What a selector knew of one attempt; nulls are of one that left no answer."""

    attempt: Count
    passed: Count | None
    tests: Count | None
    size: Count | None


class Pick(Record):
    """One group of attempts, and the one that was picked; None where no attempt of it counts."""

    solver: str
    task: str
    group: Count
    picked: Count | None
    rule: Rule
    rollouts: tuple[Rollout, ...]


class SelectedRow(Record):
    """A solver's row. ``name`` says how it came about and belongs beside ``figure`` wherever that is shown.

    Of ``groups``, those ``counted`` have a picked attempt that counts (for pass@N: N attempts that count). ``short``
    ones lack attempts that left the denominator, so that fewer than N were picked from. In ``fallen_back`` ones the
    task has no visible tests.
    """

    name: str
    groups: Count
    counted: Count
    short: Count
    fallen_back: Count
    solved: Count
    figure: Figure
    raw: Figure
    """With every group that does not count as a failure."""


class Selected(Record):
    """Everything that selecting came to. ``picks`` is empty for the oracle."""

    selector: SelectorKind
    rollouts: Count
    picks: tuple[Pick, ...]
    rows: dict[str, SelectedRow]
    """By solver."""


def select(evidence: Evidence) -> Selected | None:
    """What a plan's selector picks; None for a plan that has none.

    Raises:
        KeyError: a planned cell has not ended.
    """
    plan = evidence.plan
    terms = plan.best_of
    if terms is None:
        return None
    groups = {solver.name: _groups(evidence, solver.name, terms) for solver in plan.solvers}
    match terms.selector:
        case SelectorKind.ORACLE:
            rows = {name: _oracle(found, terms) for name, found in groups.items()}
            picks: tuple[Pick, ...] = ()
        case SelectorKind.VISIBLE_TESTS:
            picks = tuple(_pick(group) for found in groups.values() for group in found)
            rows = {
                name: _row(found, [one for one in picks if one.solver == name], terms) for name, found in groups.items()
            }
        case _:
            assert_never(terms.selector)
    return Selected(selector=terms.selector, rollouts=terms.rollouts, picks=picks, rows=rows)


Group = Sequence[AttemptRecord]


def _groups(evidence: Evidence, solver: str, terms: BestOf) -> list[Group]:
    """Task by task, each group's records in the order of their attempts."""
    plan, size = evidence.plan, terms.rollouts
    return [
        [
            evidence.final(Cell(solver=solver, task=task.task, attempt=number))
            for number in range(first, min(first + size, plan.attempts + 1))
        ]
        for task in plan.tasks
        for first in range(1, plan.attempts + 1, size)
    ]


def _pick(group: Group) -> Pick:
    rollouts = tuple(
        Rollout(
            attempt=one.cell.attempt,
            passed=one.selecting.passed if one.selecting else None,
            tests=one.selecting.tests if one.selecting else None,
            size=one.selecting.size if one.selecting else None,
        )
        for one in group
    )
    answers = [one for one in rollouts if one.passed is not None]
    counting = [one.cell.attempt for one in group if in_denominator(one.outcome)]
    if not answers:
        picked, rule = (min(counting) if counting else None), Rule.NO_ANSWER
    elif any(one.selecting is not None and not one.selecting.files for one in group):
        picked, rule = answers[0].attempt, Rule.FIRST_ANSWER
    else:
        best = min(answers, key=lambda one: (-(one.passed or 0), one.size or 0, one.attempt))
        picked, rule = best.attempt, Rule.VISIBLE_TESTS
    first, size = group[0].cell, len(group)
    number = (first.attempt - 1) // size + 1
    return Pick(solver=first.solver, task=first.task, group=number, picked=picked, rule=rule, rollouts=rollouts)


def _row(groups: Sequence[Group], picks: Sequence[Pick], terms: BestOf) -> SelectedRow:
    chosen = [
        (pick, next((one.outcome for one in group if one.cell.attempt == pick.picked), None))
        for group, pick in zip(groups, picks, strict=True)
    ]
    tasks = list(dict.fromkeys(pick.task for pick in picks))
    counted = [(pick, outcome) for pick, outcome in chosen if outcome is not None and in_denominator(outcome)]
    return SelectedRow(
        name=f"best of {terms.rollouts} by {terms.selector.value}",
        groups=len(groups),
        counted=len(counted),
        short=_short(groups),
        fallen_back=sum(one.rule is Rule.FIRST_ANSWER for one in picks),
        solved=sum(outcome is Outcome.SOLVED for _, outcome in counted),
        figure=_figure(task_mean([[_won(o) for pick, o in counted if pick.task == task] for task in tasks])),
        raw=_figure(task_mean([[_won(o) for pick, o in chosen if pick.task == task] for task in tasks])),
    )


def _oracle(groups: Sequence[Group], terms: BestOf) -> SelectedRow:
    tasks = list(dict.fromkeys(group[0].cell.task for group in groups))
    by_task = [[one.outcome for group in groups for one in group if group[0].cell.task == task] for task in tasks]
    counted = [[one for one in outcomes if in_denominator(one)] for outcomes in by_task]
    few = [task for task, outcomes in zip(tasks, counted, strict=True) if len(outcomes) < terms.rollouts]
    whole = [group for group in groups if all(in_denominator(one.outcome) for one in group)]
    n = terms.rollouts
    return SelectedRow(
        name=f"pass@{n}",
        groups=len(groups),
        counted=len(whole),
        short=_short(groups),
        fallen_back=0,
        solved=sum(any(one.outcome is Outcome.SOLVED for one in group) for group in groups),
        figure=missing(f"task {few[0]} has fewer than {n} attempts that count")
        if few
        else _figure(task_mean([[_pass_at(n, outcomes)] for outcomes in counted])),
        raw=_figure(task_mean([[_pass_at(n, outcomes)] for outcomes in by_task])),
    )


def _pass_at(n: int, outcomes: Sequence[Outcome]) -> Fraction:
    won = sum(one is Outcome.SOLVED for one in outcomes)
    return 1 - Fraction(comb(len(outcomes) - won, n), comb(len(outcomes), n))


def _short(groups: Sequence[Group]) -> int:
    return sum(not all(in_denominator(one.outcome) for one in group) for group in groups)


def _won(outcome: Outcome | None) -> Fraction:
    return Fraction(outcome is Outcome.SOLVED)


def _figure(value: Fraction | None) -> Figure:
    return missing("no attempt counts") if value is None else known(value)
