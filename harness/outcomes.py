"""How an attempt can end, and what each end means: one closed table.

Audit verdicts are another axis and never change an outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class Outcome(StrEnum):
    """The terminal state of a planned cell."""

    SOLVED = "solved"
    PARTIAL = "partial"
    FAILED = "failed"
    EXTRACT_FAILED = "extract_failed"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    REJECTED = "rejected"
    INVALID = "invalid"
    ERRORED = "errored"
    UNAVAILABLE = "unavailable"
    INFRA = "infra"


class Rejection(StrEnum):
    """Why a change was not graded, by name. A rejected attempt counts as a failure."""

    BAD_PATH = "bad_path"
    BAD_MODE = "bad_mode"
    SPECIAL_FILE = "special_file"
    SYMLINK_ESCAPE = "symlink_escape"
    NESTED_REPOSITORY = "nested_repository"
    TREE_TOO_DEEP = "tree_too_deep"
    TREE_TOO_LARGE = "tree_too_large"
    TOO_MANY_FILES = "too_many_files"
    COMPILED_ARTIFACT = "compiled_artifact"
    INTERPRETER_HOOK = "interpreter_hook"
    TEST_CONFIG_MODIFIED = "test_config_modified"
    MODULE_SHADOWING = "module_shadowing"
    CANARY_FLIPPED = "canary_flipped"
    UNEXPECTED_TESTS = "unexpected_tests"
    HIDDEN_MATERIAL_CHANGED = "hidden_material_changed"


class Gate(StrEnum):
    """What an answer must pass before it is graded by groups. One that does not has failed, with the gate's name."""

    APPLY = "apply"
    """A diff applies to the task's tree, exactly."""
    BUDGET = "budget"
    """It changes no more lines than the task allows."""
    TYPECHECK = "typecheck"
    """The type checker has nothing to say against the target."""


class Ending(StrEnum):
    """What ended an attempt, as the stages see it, before grading gives it a score."""

    COMPLETED = "completed"
    """The solver ended by itself, with whatever exit status; the grade decides."""
    OUT_OF_MEMORY = "out_of_memory"
    """The kernel killed the solver; what it left is graded, and counts."""
    WALL_LIMIT = "wall_limit"
    BUDGET_LIMIT = "budget_limit"
    SOLVER_REFUSED = "solver_refused"
    NOTHING_EXTRACTED = "nothing_extracted"
    """Neither the reply nor the workspace holds an answer."""
    GATE_FAILED = "gate_failed"
    """The answer did not pass one of the gates (:class:`Gate`) before the groups."""
    CHANGE_REJECTED = "change_rejected"
    BASELINE_PASSES = "baseline_passes"
    """The task itself is at fault: its unmodified base does not fail as it must."""
    PROVIDER_FAULT = "provider_fault"
    """The gateway saw an upstream fault that outlasted the stated retries."""
    NOT_AVAILABLE = "not_available"
    ENGINE_FAULT = "engine_fault"
    HOST_FAULT = "host_fault"


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    ``outcome`` is None where the grade decides among solved, partial and failed. ``graded`` says whether the change is
    graded all the same, ``retry`` whether a new try may replace this one, ``counts`` whether the cell stays in the
    denominator.
    """

    outcome: Outcome | None
    kind: str
    graded: bool
    retry: bool
    counts: bool


MAX_TRIES = 3
"""Tries of one cell, the first included, when the rule says retry."""


def rule(ending: Ending) -> Rule:
    """The row for an ending."""
    match ending:
        case Ending.COMPLETED:
            return Rule(None, "", graded=True, retry=False, counts=True)
        case Ending.OUT_OF_MEMORY:
            return Rule(None, "oom", graded=True, retry=False, counts=True)
        case Ending.WALL_LIMIT:
            return Rule(Outcome.TIMEOUT, "wall", graded=True, retry=False, counts=True)
        case Ending.BUDGET_LIMIT:
            return Rule(Outcome.TIMEOUT, "budget", graded=True, retry=False, counts=True)
        case Ending.SOLVER_REFUSED:
            return Rule(Outcome.REFUSED, "", graded=False, retry=False, counts=True)
        case Ending.NOTHING_EXTRACTED:
            return Rule(Outcome.EXTRACT_FAILED, "", graded=False, retry=False, counts=True)
        case Ending.GATE_FAILED:
            return Rule(Outcome.FAILED, "", graded=False, retry=False, counts=True)
        case Ending.CHANGE_REJECTED:
            return Rule(Outcome.REJECTED, "", graded=False, retry=False, counts=True)
        case Ending.BASELINE_PASSES:
            return Rule(Outcome.INVALID, "baseline", graded=False, retry=False, counts=False)
        case Ending.PROVIDER_FAULT:
            return Rule(Outcome.ERRORED, "provider", graded=False, retry=True, counts=False)
        case Ending.NOT_AVAILABLE:
            return Rule(Outcome.UNAVAILABLE, "", graded=False, retry=False, counts=False)
        case Ending.ENGINE_FAULT:
            return Rule(Outcome.INFRA, "engine", graded=False, retry=True, counts=False)
        case Ending.HOST_FAULT:
            return Rule(Outcome.INFRA, "host", graded=False, retry=True, counts=False)
        case _:
            assert_never(ending)


def may_retry(outcome: Outcome) -> bool:
    """Whether another try may replace one with this outcome: some ending of that outcome says so."""
    return any(row.retry for row in map(rule, Ending) if row.outcome is outcome)


def graded(behaviour: Sequence[bool], regression: Sequence[bool]) -> Outcome:
    """The outcome that a grade decides, from each group's pass.

    Solved only if all passed; any regression failure is a failure whatever else passed; otherwise partial if some
    behaviour group passed.
    """
    if not all(regression) or not any(behaviour):
        return Outcome.FAILED
    return Outcome.SOLVED if all(behaviour) else Outcome.PARTIAL


def in_denominator(outcome: Outcome) -> bool:
    """Whether a cell with this outcome counts; four outcomes do not, and each of those is shown beside the rate."""
    match outcome:
        case Outcome.INVALID | Outcome.ERRORED | Outcome.UNAVAILABLE | Outcome.INFRA:
            return False
        case (
            Outcome.SOLVED
            | Outcome.PARTIAL
            | Outcome.FAILED
            | Outcome.EXTRACT_FAILED
            | Outcome.TIMEOUT
            | Outcome.REFUSED
            | Outcome.REJECTED
        ):
            return True
        case _:
            assert_never(outcome)
