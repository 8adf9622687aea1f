"""The scripted solvers' rungs, what each must show, and their order: noop < wrong < partial < reference. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from harness.evidence import AttemptRecord
from harness.outcomes import Gate, Outcome
from harness.solvers.manifest import DriverKind
from harness.suites.admission.records import Rung, Separation, failures, score, share, spelled
from harness.suites.formats.common import CandidateKind
from harness.suites.groups import GroupKind


def f_of(record: AttemptRecord) -> Fraction:
    """F of an attempt: of its grade, 0 without one."""
    return score(record.grade.verdicts) if record.grade is not None else Fraction(0)


def checks_of(record: AttemptRecord) -> Fraction:
    """The share of checks that an attempt's answer passes (see :func:`records.share`), 0 without a grade."""
    return share(record.grade.verdicts) if record.grade is not None else Fraction(0)


def rung(solver: DriverKind, candidate: str, record: AttemptRecord) -> Rung:
    """An attempt as a rung."""
    return Rung(
        solver=solver.value,
        candidate=candidate,
        outcome=record.outcome,
        f=spelled(f_of(record)),
        checks=spelled(checks_of(record)),
        gate=_gate(record),
    )


def _gate(record: AttemptRecord) -> str:
    if record.grade is None or record.grade.rejection is not None:
        return ": ".join(part for part in (record.kind or record.outcome.value, record.reason) if part)
    return ", ".join(failures(record.grade))


def ends_wrongly(kind: CandidateKind, record: AttemptRecord) -> Iterator[str]:
    """One line for each thing that a candidate should show and does not."""
    f = f_of(record)
    if not _stopped_at_a_real_gate(record):
        yield f"ended as {record.outcome.value} at {_gate(record) or 'no gate'}, before anything was graded"
        return
    match kind:
        case CandidateKind.WRONG:
            if f == 1:
                yield "is wrong, yet scores 1.0"
        case CandidateKind.PARTIAL:
            if not 0 < f < 1:
                yield f"is right in part, yet scores {spelled(f)}"
        case CandidateKind.BREAKER:
            yield from _unbroken(record)
        case _:
            assert_never(kind)


def separation(reference: AttemptRecord) -> Separation:
    """By which figure a task's ladder can be asked for, from its reference's attempt, in which every group stands."""
    verdicts = reference.grade.verdicts if reference.grade is not None else ()
    checks = [one.checks for one in verdicts if one.kind is GroupKind.BEHAVIOUR]
    if len(checks) >= _ROOM:
        return Separation.GROUPS
    return Separation.CHECKS if sum(checks) > 1 else Separation.NONE


def out_of_order(
    by: Separation, noop: AttemptRecord, candidates: Sequence[tuple[str, CandidateKind, AttemptRecord]], groups: int
) -> Iterator[str]:
    """One line for each step of noop < wrong < partial that a task's ladder lacks.

    Each partial candidate stands above each wrong one, and some wrong one above noop. Others may score 0 as noop does:
    those that a gate stops. That the reference is above all is asked for with its own scores.

    Args:
        by: what :func:`separation` gives.
        noop: the attempt that did nothing.
        candidates: each candidate's name, kind and attempt.
        groups: how many behaviour groups the task has; a single one can't be solved in part.
    """
    if by is Separation.NONE:
        return
    heights = {name: _height(by, record) for name, _, record in candidates}
    of: Mapping[CandidateKind, list[str]] = {
        kind: sorted((name for name, one, _ in candidates if one is kind), key=heights.__getitem__)
        for kind in CandidateKind
    }
    wrong, partial = of[CandidateKind.WRONG], of[CandidateKind.PARTIAL]
    if not wrong or heights[wrong[-1]] <= _height(by, noop):
        yield f"no wrong candidate scores above noop, which has {_said(by, _height(by, noop))}"
    if not partial and groups > 1:
        yield "there is no partial candidate"
    if wrong and partial and heights[partial[0]] <= heights[wrong[-1]]:
        low, high = _said(by, heights[partial[0]]), _said(by, heights[wrong[-1]])
        yield f"partial {partial[0]} scores {low}, which is not above wrong {wrong[-1]} with {high}"


_ROOM = 3
"""Behaviour groups that it takes for F to have two values between 0 and 1."""


def _height(by: Separation, record: AttemptRecord) -> tuple[Fraction, Fraction]:
    return f_of(record), checks_of(record) if by is Separation.CHECKS else Fraction(0)


def _said(by: Separation, height: tuple[Fraction, Fraction]) -> str:
    f, checks = height
    return f"{spelled(f)} ({spelled(checks)} of its checks)" if by is Separation.CHECKS else spelled(f)


def _unbroken(record: AttemptRecord) -> Iterator[str]:
    verdicts = record.grade.verdicts if record.grade is not None else ()
    if not any(one.passed for one in verdicts if one.kind is GroupKind.BEHAVIOUR):
        yield "should pass a behaviour group and passes none"
    if all(one.passed for one in verdicts if one.kind is GroupKind.REGRESSION):
        yield "should fail a regression group and fails none"


_GRADED = frozenset({Outcome.SOLVED, Outcome.PARTIAL, Outcome.FAILED})
_REAL_GATES = frozenset({Gate.BUDGET.value, Gate.TYPECHECK.value})


def _stopped_at_a_real_gate(record: AttemptRecord) -> bool:
    if record.outcome not in _GRADED:
        return False
    return (record.grade is not None and record.grade.rejection is None) or record.kind in _REAL_GATES
