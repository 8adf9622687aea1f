"""The factors of one attempt, from its record: F, Q, S, C and the combined score under both profiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from harness.evidence import AttemptRecord
from harness.outcomes import in_denominator
from scoring.factor import Factor, factor, no_factor
from scoring.figures import Figure
from scoring.formula import CLASSIC, COMBINED, FactorName, combined
from scoring.functional import functional
from scoring.lint import quality
from scoring.quality import code_quality
from scoring.security import security


@dataclass(frozen=True)
class Factors:
    """Every factor in 0..1 and every combined score in 0..100, or the reason why there is none."""

    f: Factor
    q: Factor
    s: Factor
    c: Factor
    combined: Figure
    combined_classic: Figure


def factors(record: AttemptRecord) -> Factors:
    """The factors that the stored evidence gives."""
    all_four = {
        FactorName.F: _functional(record),
        FactorName.Q: quality(record.scan),
        FactorName.S: security(record.scan),
        FactorName.C: code_quality(),
    }
    return Factors(
        f=all_four[FactorName.F],
        q=all_four[FactorName.Q],
        s=all_four[FactorName.S],
        c=all_four[FactorName.C],
        combined=combined(COMBINED, all_four),
        combined_classic=combined(CLASSIC, all_four),
    )


def _functional(record: AttemptRecord) -> Factor:
    """F of what was graded; an attempt that counts and left nothing to grade passed nothing."""
    if not in_denominator(record.outcome):
        return no_factor(f"the attempt does not count: {record.outcome.value}")
    if record.grade is None or not record.grade.verdicts:
        return factor(Fraction(0), {})
    return functional(record.grade.verdicts)
