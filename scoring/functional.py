"""F: passed behaviour groups over all, gated to 0 by any regression failure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from harness.suites.groups import GroupKind
from scoring.factor import Factor, factor, no_factor
from scoring.figures import known


class Verdict(Protocol):
    """What F needs of a group's verdict."""

    @property
    def kind(self) -> GroupKind: ...
    @property
    def passed(self) -> bool: ...


def functional(verdicts: Sequence[Verdict]) -> Factor:
    """F of one graded attempt. It is solved only at exactly 1 (:func:`solved`)."""
    behaviour = [one.passed for one in verdicts if one.kind is GroupKind.BEHAVIOUR]
    regression = [one.passed for one in verdicts if one.kind is GroupKind.REGRESSION]
    parts = {
        "behaviour_passed": known(Fraction(sum(behaviour))),
        "behaviour_groups": known(Fraction(len(behaviour))),
        "regression_failed": known(Fraction(len(regression) - sum(regression))),
    }
    if not behaviour:
        return no_factor("the task has no behaviour group", parts)
    value = Fraction(sum(behaviour), len(behaviour)) if all(regression) else Fraction(0)
    return factor(value, parts)


def solved(score: Factor) -> bool:
    """Whether an attempt with this F is solved."""
    return score.fraction == 1
