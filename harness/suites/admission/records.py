"""What admission found out about a task: every figure, and the reasons if it is not admitted.

Scores are decimal strings of F (``1.0``, ``0.0``, ``0.3333``), rounded to four places. What was not looked at, because
an earlier clause failed or the format has no such thing, is None.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from harness.digest import Digest
from harness.evidence import GradeRecord, GroupVerdict
from harness.outcomes import Outcome
from harness.records import Count, ImageRef, Microseconds, Record, SuiteRef
from harness.suites.admission.frontier import Frontier
from harness.suites.groups import GroupKind
from harness.suites.parity_sweep import ParityMeasure

Score = str


def score(verdicts: tuple[GroupVerdict, ...]) -> Fraction:
    """F: passed behaviour groups of all, 0 if a regression group failed or nothing was graded."""
    behaviour = [one.passed for one in verdicts if one.kind is GroupKind.BEHAVIOUR]
    gated = any(not one.passed for one in verdicts if one.kind is GroupKind.REGRESSION)
    return Fraction(0) if gated or not behaviour else Fraction(sum(behaviour), len(behaviour))


def share(verdicts: tuple[GroupVerdict, ...]) -> Fraction:
    """A finer figure than F: passed checks of the behaviour groups of all their checks, gated as F is.

    It is no score. Where groups are too few to hold a wrong and a partial candidate apart, it tells them apart.
    """
    behaviour = [one for one in verdicts if one.kind is GroupKind.BEHAVIOUR]
    gated = any(not one.passed for one in verdicts if one.kind is GroupKind.REGRESSION)
    checks = sum(one.checks for one in behaviour)
    return Fraction(0) if gated or not checks else Fraction(sum(one.checks_passed for one in behaviour), checks)


def spelled(value: Fraction) -> Score:
    """F as text."""
    return str(round(float(value), 4))


class Grading(Record):
    """One grading of the reference or the base: F, and what it took."""

    f: Score
    wall_us: Microseconds
    cpu_us: Microseconds | None
    """CPU time of its container; None where the engine's kernel is not this host's."""
    failed: tuple[str, ...]
    """The groups that failed, or the rejection."""

    @staticmethod
    def of(record: GradeRecord) -> Grading:
        """From a grading's record."""
        return Grading(
            f=spelled(score(record.verdicts)), wall_us=record.wall_us, cpu_us=record.use.cpu_us, failed=failures(record)
        )


def failures(record: GradeRecord | None) -> tuple[str, ...]:
    """The groups that failed, or why none was graded."""
    if record is None:
        return ("not graded",)
    if record.rejection is not None:
        return (f"rejected: {record.rejection.value}",)
    return tuple(one.name for one in record.verdicts if not one.passed)


class Rung(Record):
    """One scripted solver's attempt, whole: from the prompt through capture and extraction to the grade."""

    solver: str
    """``noop``, ``wrong``, ``partial``, ``breaker`` or ``reference``."""
    candidate: str
    outcome: Outcome
    f: Score
    checks: Score
    """See :func:`share`: no part of F."""
    gate: str
    """What held it below 1.0: the groups that failed, or the end that came before grading. Empty for 1.0."""


class Separation(StrEnum):
    """By which figure the ladder noop < wrong < partial < reference is asked for; the number of groups decides."""

    GROUPS = "groups"
    """By F: there are three behaviour groups or more."""
    CHECKS = "checks"
    """By F, and where that is equal by :func:`share`: one or two behaviour groups leave F too little room."""
    NONE = "none"
    """Not at all: one behaviour group of a single check, where nothing lies between noop and reference."""


class MutantResult(Record):
    """One mutant: the changed line, and what told it from the reference (empty if nothing did)."""

    id: str
    was: str
    now: str
    killed_by: str
    equivalent: str
    """The reason recorded in the task, if it is recorded as equivalent."""


class Mutation(Record):
    """All mutants of a task that were graded; ``exist`` counts those that there are."""

    exist: Count
    total: Count
    killed: Count
    equivalent: Count
    results: tuple[MutantResult, ...]


class Timing(Record):
    """What the reference used of the grade limit (see ``repeats.timing``); ``share`` is a decimal of 1."""

    limit_us: Microseconds
    used_us: Microseconds
    share: str


class Purity(Record):
    """Of formats ``function`` and ``patch``: what a static look found, and F with every file closed."""

    impurities: tuple[str, ...]
    closed: Grading


class Determinism(Record):
    """The gradings of the reference under other conditions, and in what each differed from the usual one."""

    conditions: tuple[str, ...]
    differences: tuple[str, ...]


class Leaks(Record):
    """The search of the solver's container."""

    needles: Count
    files: Count
    hits: tuple[str, ...]


class SpecLint(Record):
    """The checklist: its entries, and what is wrong with it."""

    entries: Count
    problems: tuple[str, ...]


class FollowUpResult(Record):
    """The follow-up ticket: F of the first reference, which must fail it, and of the follow-up's own."""

    base: Grading
    reference: Grading


class Admission(Record):
    """The result of checking one task. It speaks of exactly these hashes and images, under exactly these rules."""

    schema_version: int = 1
    id: str
    suite: str
    version: str
    format: str
    score_hash: Digest
    authoring_hash: Digest
    images: tuple[ImageRef, ...]
    rules: Digest
    """The digest of admission's own code, mutation operators and sweeps included."""
    admitted: bool
    reasons: tuple[str, ...]
    reference_scores: tuple[Score, ...] = ()
    base_scores: tuple[Score, ...] = ()
    spread: Score | None = None
    """The largest less the smallest of the reference's scores."""
    reference: tuple[Grading, ...] = ()
    base: tuple[Grading, ...] = ()
    ladder: tuple[Rung, ...] = ()
    separation: Separation | None = None
    mutants: Mutation | None = None
    timing: Timing | None = None
    purity: Purity | None = None
    determinism: Determinism | None = None
    leaks: Leaks | None = None
    spec: SpecLint | None = None
    follow_up: FollowUpResult | None = None
    parity: ParityMeasure | None = None
    unshown: tuple[str, ...] | None = None
    """Behaviour groups that no candidate and no mutant failed. A hint: it stands against nothing."""
    frontier: Frontier
    wall_us: Microseconds


class CheckRecord(Record):
    """One run of ``trialbox suite check``: which code looked at which suites, and what it found of each task."""

    schema_version: int = 1
    harness_version: str
    harness_commit: str
    rules: Digest
    suites: tuple[SuiteRef, ...]
    tasks: tuple[Admission, ...]
    wall_us: Microseconds
