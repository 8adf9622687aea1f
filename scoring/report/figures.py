"""Figures as readers see them: three places, a dash for what is missing, a ``~`` for what is not to be ranked."""

from __future__ import annotations

from fractions import Fraction

from harness.energy.records import Provenance
from scoring.figures import Figure, Mean
from scoring.measured import MeasuredSolver
from scoring.report.table import NONE, places

ESTIMATOR = "estimator"


def figure(one: Figure) -> str:
    """A figure with three places, or a dash."""
    return NONE if one.value is None else short(one.value)


def mean(one: Mean) -> str:
    """A mean, or a dash."""
    return NONE if one.value is None else short(one.value)


def joules(value_uj: int | None, *, reliable: bool) -> str:
    """An energy in joules with its ``~``."""
    return NONE if value_uj is None else f"{'' if reliable else '~'}{places(Fraction(value_uj, 10**6))}"


def provenance(one: Provenance, meters: set[str]) -> str:
    """How an energy came about, and the estimator by name where it is that one's."""
    return f"{one.value}, {ESTIMATOR.capitalize()}" if ESTIMATOR in meters else one.value


def total(one: MeasuredSolver) -> str:
    """A total; where a part is missing, what it is at least and how much of it is known."""
    energy = one.energy
    if energy.total_uj is None:
        return f"≥{joules(energy.at_least_uj, reliable=reliable(one))} ({energy.covered}/{energy.attempts} known)"
    return joules(energy.total_uj, reliable=reliable(one))


def per_resolved(one: MeasuredSolver) -> str:
    """Energy per resolved cell with its standard error; with none resolved, its lower bound."""
    energy = one.energy
    if energy.per_resolved_at_least_uj is not None and energy.covered:
        return f">{joules(energy.per_resolved_at_least_uj, reliable=reliable(one))}"
    shown = joules(energy.per_resolved_uj, reliable=reliable(one))
    error = one.per_resolved_error_uj
    return shown if error is None else f"{shown} ±{places(Fraction(error, 10**6))}"


def reliable(one: MeasuredSolver) -> bool:
    """Whether nothing marks a solver's energy."""
    return not any(flag.marks for flag in one.flags)


def short(value: str) -> str:
    """A decimal string to three places."""
    return places(Fraction(value))
