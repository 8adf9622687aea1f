"""The combined score under both profiles, and the formula's digest, which is fixed on the plan before a run.

A missing factor makes the combined score unavailable; weights are never spread over the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Final

from harness import digest as _digest
from harness.records import Record, to_value
from harness.scan.rules import MAX_FILES, SETTINGS
from scoring import lint, security
from scoring.factor import Factor
from scoring.figures import DecimalString, Figure, decimal, known, missing

METHOD: Final = 1
"""Version of docs/scoring-method.md; raised with any change that can move a figure."""


class FactorName(StrEnum):
    """The four factors."""

    F = "F"
    Q = "Q"
    S = "S"
    C = "C"


class Profile(Record):
    """Weights of the four factors; they add up to 1."""

    name: str
    weights: dict[FactorName, DecimalString]


def _profile(name: str, f: str, q: str, s: str, c: str) -> Profile:
    return Profile(name=name, weights={FactorName.F: f, FactorName.Q: q, FactorName.S: s, FactorName.C: c})


COMBINED: Final = _profile("50/8.5/8.5/33", "0.50", "0.085", "0.085", "0.33")
CLASSIC: Final = _profile("50/15/15/20", "0.50", "0.15", "0.15", "0.20")


class Formula(Record):
    """Everything that says how a score is computed; tool versions come with the scanner image, which the plan names."""

    method: int
    profiles: tuple[Profile, ...]
    quality: dict[str, DecimalString]
    security: dict[str, DecimalString]
    max_files: int
    scan: dict[str, str | int | tuple[str, ...]]

    @property
    def digest(self) -> str:
        """What goes on the plan."""
        return _digest.digest(to_value(self))


FORMULA: Final = Formula(
    method=METHOD,
    profiles=(COMBINED, CLASSIC),
    quality={
        **{f"weight_{name}": decimal(weight) for name, weight in lint.WEIGHTS.items()},
        "density_at_zero": decimal(lint.DENSITY_AT_ZERO),
        "complexity_free": decimal(Fraction(lint.COMPLEXITY_FREE)),
        "complexity_span": decimal(Fraction(lint.COMPLEXITY_SPAN)),
    },
    security={level.value.lower(): decimal(penalty) for level, penalty in security.PENALTY.items()},
    max_files=MAX_FILES,
    scan=SETTINGS,
)


def combined(profile: Profile, factors: Mapping[FactorName, Factor]) -> Figure:
    """The combined score in 0..100, rounded once at the end; if a factor is missing, unavailable and naming it."""
    lacking = [
        f"{name} is unavailable: {factors[name].figure.reason}" for name in FactorName if not _has(factors[name])
    ]
    if lacking:
        return missing("; ".join(lacking))
    exact = {name: factors[name].fraction or Fraction(0) for name in FactorName}
    return known(100 * sum((Fraction(profile.weights[name]) * exact[name] for name in FactorName), Fraction(0)))


def _has(one: Factor) -> bool:
    return one.fraction is not None
