"""The report of ``trialbox audit``: verdicts with what they cite, boards, and how much was watched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from audits.records import (
    AttemptAudit,
    Axis,
    AxisVerdict,
    Fact,
    Finding,
    RunAudit,
    State,
    TrajectoryAudit,
    attack,
    standing,
)
from harness.counted import counted
from harness.records import BlobRef, Coverage
from harness.untrusted import clean_text
from scoring.audited import make_audited
from scoring.report.audits import boards
from scoring.report.table import NONE, Table
from scoring.report.text import Report

_MAX_FINDINGS = 12


def run_report(audit: RunAudit, name: str, digest: str, stamped: str | None) -> Report:
    """The report of ``trialbox audit`` on a run or card."""
    audited = make_audited(audit, BlobRef(digest=digest, size=0, media_type="application/json"))
    return Report(
        head=(f"{name}: {counted(len(audit.attempts), 'attempt')}, rules {audit.rules}",),
        tables=(
            boards(audited),
            _attempts(audit.attempts),
            *_if_any(_found(audit.attempts)),
            _coverage(audit.attempts),
        ),
        notes=tuple(_of_stamp(digest, stamped)),
        last=_last(one for attempt in audit.attempts for one in attempt.axes.values()),
    )


def trajectory_report(audit: TrajectoryAudit, name: str) -> Report:
    """The report of ``trialbox audit`` on a file."""
    rows = [(axis.value, verdict.name, verdict.coverage.value) for axis, verdict in audit.axes.items()]
    findings = [_finding(name, one) for verdict in audit.axes.values() for one in verdict.findings[:_MAX_FINDINGS]]
    return Report(
        head=(
            f"{clean_text(name)}: {audit.format}, {audit.steps} steps, {audit.calls} calls",
            f"coverage {audit.coverage.value}: {clean_text(audit.reason)}",
        ),
        tables=(
            Table("verdicts", ("axis", "verdict", "coverage"), tuple(rows)),
            *_if_any(Table("findings", ("of", "axis", "kind", "got to", "detail", "cites", "times"), tuple(findings))),
        ),
        notes=(f"access during the evaluation: {audit.access.value}",),
        last=_last(audit.axes.values()),
    )


def _of_stamp(digest: str, stamped: str | None) -> Iterator[str]:
    if stamped == digest:
        yield "this is the audit that the card names, made again"
    elif stamped is not None:
        yield f"the card names another audit ({stamped}): by other rules, or of evidence that has changed since"
    yield f"audit {digest}"


def _if_any(table: Table) -> tuple[Table, ...]:
    return (table,) if table.rows else ()


def _last(verdicts: Iterable[AxisVerdict]) -> str:
    seen = list(verdicts)
    said = "an attack was found" if any(attack(one.found) for one in seen) else "no attack was found"
    unsure = sum(one.state is State.UNVERIFIABLE for one in seen)
    return f"{said}; {unsure} of {len(seen)} verdicts can't be verified" if unsure else said


def _attempts(attempts: Sequence[AttemptAudit]) -> Table:
    rows = [
        (
            *_names(one),
            one.outcome.value,
            standing(one) if one.axes else NONE,
            *(_verdict(one.axes.get(axis)) for axis in Axis),
            one.access.value,
            one.training.relation.value,
        )
        for one in attempts
    ]
    columns = ("task", "solver", "#", "outcome", "stands", *(axis.value for axis in Axis), "access", "training")
    return Table("verdicts", columns, tuple(rows))


def _found(attempts: Sequence[AttemptAudit]) -> Table:
    rows = [
        _finding(one.cell.key, finding)
        for one in attempts
        for verdict in one.axes.values()
        for finding in verdict.findings[:_MAX_FINDINGS]
    ]
    return Table("findings", ("attempt", "axis", "kind", "got to", "detail", "cites", "times"), tuple(rows))


def _finding(of: str, one: Finding) -> tuple[str, ...]:
    cites = ", ".join(f"{cite.source.value} {cite.seq}" if cite.seq or not cite.at else f"{cite.source.value} {cite.at}"
                      for cite in one.cites[:4])  # fmt: skip
    fact = "flag only" if one.fact is Fact.FLAG else one.fact.value
    return clean_text(of), one.axis.value, one.kind.value, fact, clean_text(one.detail, 100), cites, str(one.times)


def _coverage(attempts: Sequence[AttemptAudit]) -> Table:
    rows = [
        (*_names(one), channel, seen.coverage.value, str(seen.lines), clean_text(seen.reason, 100))
        for one in attempts
        for channel, seen in one.channels.items()
        if seen.coverage is not Coverage.FULL or seen.lines
    ]
    return Table("what was watched", ("task", "solver", "#", "channel", "coverage", "lines", "why"), tuple(rows))


def _names(one: AttemptAudit) -> tuple[str, str, str]:
    return clean_text(one.cell.task), clean_text(one.cell.solver), str(one.cell.attempt)


def _verdict(verdict: AxisVerdict | None) -> str:
    return NONE if verdict is None else verdict.name
