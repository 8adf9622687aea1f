"""The factors of one attempt, from its record: F, Q, S, C and the combined score under both profiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from harness.evidence import AttemptRecord
from harness.outcomes import in_denominator
from harness.suites.groups import GroupKind
from scoring.figures import Figure, known, missing


@dataclass(frozen=True)
class Factors:
    """Every factor in 0..1 and every combined score in 0..100, or the reason why there is none."""

    f: Figure
    q: Figure
    s: Figure
    c: Figure
    combined: Figure
    combined_classic: Figure


def factors(record: AttemptRecord) -> Factors:
    """The factors that the stored evidence gives."""
    nothing = missing("no code-quality review")
    return Factors(
        f=_functional(record),
        q=missing("no scan"),
        s=missing("no scan"),
        c=nothing,
        combined=missing("C is unavailable"),
        combined_classic=missing("C is unavailable"),
    )


def _functional(record: AttemptRecord) -> Figure:
    if not in_denominator(record.outcome):
        return missing(record.outcome.value)
    if record.grade is None:
        return known(Fraction(0))
    behaviour = [one.passed for one in record.grade.verdicts if one.kind is GroupKind.BEHAVIOUR]
    whole = all(one.passed for one in record.grade.verdicts if one.kind is GroupKind.REGRESSION)
    return known(Fraction(sum(behaviour), len(behaviour)) if behaviour and whole else Fraction(0))
