"""The drill-down of a report: attempt by attempt, or task by task where there are too many to read."""

from __future__ import annotations

from collections.abc import Iterable

from harness.untrusted import clean_text
from scoring.core import CoreCell
from scoring.measured import MeasuredCell
from scoring.report.figures import figure, joules, provenance
from scoring.report.table import NONE, Table, seconds

Cells = Iterable[tuple[CoreCell, MeasuredCell]]


def tables(cells: Cells) -> tuple[Table, Table]:
    """How each attempt ended, and what it took."""
    ended, took = [], []
    for one, measured in cells:
        names = clean_text(one.cell.task), clean_text(one.cell.solver), str(one.cell.attempt)
        ended.append((*names, *_ended(one)))
        took.append((*names, *_took(measured)))
    return (
        Table("attempts", ("task", "solver", "#", "outcome", "groups", "F", "Q", "S"), tuple(ended)),
        Table("measured", ("task", "solver", "#", "J", "energy is", "s", "tries", "why"), tuple(took)),
    )


def _ended(one: CoreCell) -> tuple[str, ...]:
    return (
        one.outcome.value + (f" ({clean_text(one.kind)})" if one.kind else ""),
        f"{sum(verdict.passed for verdict in one.verdicts)}/{len(one.verdicts)}" if one.verdicts else NONE,
        figure(one.f.figure),
        figure(one.q.figure),
        figure(one.s.figure),
    )


def _took(one: MeasuredCell) -> tuple[str, ...]:
    energy = one.energy
    return (
        joules(energy.active_uj, reliable=energy.reliable) if energy else NONE,
        provenance(energy.provenance, {energy.meter}) if energy else NONE,
        seconds(one.wall_us),
        str(one.tries),
        clean_text(one.reason, 80),
    )
