"""Whether a task is hard for the two reference solvers, from recorded attempts alone. Pure.

The rule is VulcanBench's: three attempts for each role under its own harness; hard if A solves at most one of three and
B needs at least ten minutes in the median or fails at least once. It says nothing until all six are there, and it is
a measurement at admission, not a promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from statistics import median

from harness.evidence import AttemptRecord
from harness.outcomes import Outcome, in_denominator
from harness.records import Count, Microseconds, Record, SolverRef

ATTEMPTS = 3
"""Attempts of each role; more are not looked at, so that nobody can repeat until it fits."""

MOST_SOLVED_BY_A = 1
LEAST_MEDIAN_OF_B_US = 600 * 1_000_000


class Role(StrEnum):
    """The two reference solvers."""

    A = "a"
    B = "b"


DEFAULT_MODELS = {Role.A: "GPT 5.6 Sol", Role.B: "Claude Opus 5"}
"""The model behind each role, as a solver's manifest names it."""


class Status(StrEnum):
    """Whether the rule could be applied."""

    MEASURED = "measured"
    NOT_MEASURED = "not_measured"


class ReferenceAttempt(Record):
    """One attempt by a reference solver, in the order they were made."""

    role: Role
    model: str
    harness: str
    solved: bool
    wall_us: Microseconds


class Frontier(Record):
    """What the rule says; everything but ``reason`` and ``attempts`` is None where it was not measured."""

    status: Status
    reason: str
    """Why it was not measured; empty if it was."""
    frontier: bool | None
    solved_by_a: Count | None
    failed_by_b: Count | None
    median_of_b_us: Microseconds | None
    attempts: tuple[ReferenceAttempt, ...]


def frontier(attempts: Iterable[ReferenceAttempt]) -> Frontier:
    """Apply the rule to the first three attempts of each role."""
    by_role: dict[Role, list[ReferenceAttempt]] = {role: [] for role in Role}
    for one in attempts:
        if len(by_role[one.role]) < ATTEMPTS:
            by_role[one.role].append(one)
    used = tuple(one for role in Role for one in by_role[role])
    reason = _incomplete(by_role[Role.A], by_role[Role.B])
    if reason:
        return Frontier(
            status=Status.NOT_MEASURED,
            reason=reason,
            frontier=None,
            solved_by_a=None,
            failed_by_b=None,
            median_of_b_us=None,
            attempts=used,
        )
    solved_by_a = sum(one.solved for one in by_role[Role.A])
    failed_by_b = sum(not one.solved for one in by_role[Role.B])
    median_of_b_us = int(median(one.wall_us for one in by_role[Role.B]))
    hard_for_b = median_of_b_us >= LEAST_MEDIAN_OF_B_US or failed_by_b >= 1
    return Frontier(
        status=Status.MEASURED,
        reason="",
        frontier=solved_by_a <= MOST_SOLVED_BY_A and hard_for_b,
        solved_by_a=solved_by_a,
        failed_by_b=failed_by_b,
        median_of_b_us=median_of_b_us,
        attempts=used,
    )


def reference_attempts(tried: Iterable[tuple[SolverRef, AttemptRecord]]) -> list[ReferenceAttempt]:
    """The attempts, among recorded ones, that a reference solver made and that count, in the order given."""
    roles = {model: role for role, model in DEFAULT_MODELS.items()}
    return [
        ReferenceAttempt(
            role=roles[solver.model],
            model=solver.model,
            harness=f"{solver.harness} {solver.harness_version}",
            solved=record.outcome is Outcome.SOLVED,
            wall_us=record.solve.wall_us,
        )
        for solver, record in tried
        if solver.model in roles and in_denominator(record.outcome) and record.solve is not None
    ]


def _incomplete(a: Sequence[ReferenceAttempt], b: Sequence[ReferenceAttempt]) -> str:
    for role, made in ((Role.A, a), (Role.B, b)):
        if len(made) < ATTEMPTS:
            name = DEFAULT_MODELS[role]
            return (
                f"{len(made)} of {ATTEMPTS} attempts of reference solver {role.value} ({name} by default) are recorded"
            )
        if len({(one.model, one.harness) for one in made}) > 1:
            return f"the attempts of reference solver {role.value} are not of one model under one harness"
    return ""
