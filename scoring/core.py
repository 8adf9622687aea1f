"""THE core list: the fields of a card that must reproduce, and nothing else.

What is not here does not reproduce, or is not a result: run ids, times, retries, energy, resources, engine, host, trace
and gateway digests, the harness commit. The models are the list; a field belongs on a card's core if and only if it is
in one of them.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from harness.digest import Digest
from harness.evidence import AttemptRecord, GroupVerdict
from harness.extract import Rung
from harness.outcomes import Outcome
from harness.records import Cell, Count, Grown, Plan, Record
from harness.suites.groups import GroupKind, OracleKind, Trust
from scoring.aggregate import Aggregate, Result, aggregate, counting
from scoring.contrasts import Contrast, contrasts
from scoring.evidence import Evidence
from scoring.factor import Factor
from scoring.factors import factors
from scoring.figures import Figure
from scoring.selection import Selected, select
from scoring.statistics import VERSION


class CoreVerdict(Record):
    """One group's verdict, without the line for readers."""

    name: str
    kind: GroupKind
    oracle: OracleKind
    trust: Trust
    passed: bool
    checks: Count
    checks_passed: Count


class CoreCell(Record):
    """One planned cell's result. ``patch`` is the digest of the change manifest, None where nothing was captured;
    ``rung`` is where the answer was found, for the formats that look for one.
    """

    cell: Cell
    outcome: Outcome
    kind: str
    patch: Digest | None
    rung: Rung | None = None
    verdicts: tuple[CoreVerdict, ...]
    f: Factor
    q: Factor
    s: Factor
    c: Factor
    combined: Figure
    combined_classic: Figure


class Core(Grown):
    """Everything that a reproduction must arrive at, bit for bit."""

    later = frozenset({"selection", "statistics", "comparisons"})

    schema_version: int = 1
    plan_id: Digest
    plan: Plan
    cells: tuple[CoreCell, ...]
    aggregates: dict[str, Aggregate]
    """By solver."""
    selection: Selected | None = None
    """What a selector picked, where one attempt of several is picked."""
    statistics: Annotated[int, Field(ge=0, le=VERSION)] = 0
    """The version of ``docs/statistics.md`` by which rates and comparisons were worked out."""
    comparisons: tuple[Contrast, ...] = ()
    """The card's solvers against each other."""


def make_core(evidence: Evidence) -> Core:
    """The core of a finished run.

    Raises:
        KeyError: a planned cell has not ended.
    """
    cells = tuple(_cell(cell, evidence.final(cell)) for cell in evidence.plan.cells())
    rows: dict[str, list[Result]] = {solver.name: [] for solver in evidence.plan.solvers}
    for one in cells:
        rows[one.cell.solver].append(_result(one))
    known = evidence.statistics > 0
    return Core(
        plan_id=evidence.plan.id,
        plan=evidence.plan,
        cells=cells,
        aggregates={name: aggregate(row, with_rates=known) for name, row in rows.items()},
        selection=select(evidence),
        statistics=evidence.statistics,
        comparisons=contrasts({name: counting(row) for name, row in rows.items()}) if known else (),
    )


def _cell(cell: Cell, record: AttemptRecord) -> CoreCell:
    scores = factors(record)
    capture = record.capture
    return CoreCell(
        cell=cell,
        outcome=record.outcome,
        kind=record.kind,
        patch=capture.manifest.digest if capture is not None and capture.manifest is not None else None,
        rung=capture.rung if capture is not None else None,
        verdicts=tuple(_verdict(one) for one in record.grade.verdicts) if record.grade else (),
        f=scores.f,
        q=scores.q,
        s=scores.s,
        c=scores.c,
        combined=scores.combined,
        combined_classic=scores.combined_classic,
    )


def _verdict(one: GroupVerdict) -> CoreVerdict:
    return CoreVerdict(**{name: getattr(one, name) for name in CoreVerdict.model_fields})


def _result(one: CoreCell) -> Result:
    single = {"f": one.f.figure, "q": one.q.figure, "s": one.s.figure, "c": one.c.figure}
    combined = {"combined": one.combined, "combined_classic": one.combined_classic}
    return Result(one.cell.task, one.outcome, {**single, **combined})
