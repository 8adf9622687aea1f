"""What a card says of its audit: the board of each solver with the raw figure beside the clean one, each cell's
verdicts.

The raw pass@1 is the card's own. In the clean one a pass that is contaminated is none, and an attempt that can't be
verified has no place: with such attempts there is only what the clean figure is at least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from audits.records import Access, AttemptAudit, Axis, Board, Relation, RunAudit, standing
from harness.outcomes import Outcome, in_denominator
from harness.records import BlobRef, Record
from scoring.figures import Figure, by_task, known, missing, task_mean

if TYPE_CHECKING:  # a card holds what is made here
    from scoring.card import Card


class AuditRow(Record):
    """One solver: its board, and pass@1 raw and clean over the attempts that count, each task the same weight."""

    board: Board
    raw: Figure
    clean: Figure
    clean_at_least: Figure
    """With every attempt that can't be verified taken as a failure."""


class AuditCell(Record):
    """One planned cell: the verdict on each axis by name (none where no solver ran), and the two standings apart."""

    verdicts: dict[Axis, str]
    standing: str
    """``clean``, ``contaminated`` or ``unverifiable``."""
    access: Access
    """Access during the evaluation."""
    training: Relation
    """Whether a model may have been trained on the task: another matter than access."""


class Audited(Record):
    """The audit's record among the blobs, by whose rules, and what it comes to."""

    record: BlobRef
    rules: str
    rows: dict[str, AuditRow]
    cells: dict[str, AuditCell]
    bases: dict[str, BlobRef]
    """What the tasks gave to look for."""

    @property
    def verifiable(self) -> bool:
        """Whether every attempt that counts can be called clean or contaminated."""
        boards = [row.board for row in self.rows.values()]
        return not any(board.pass_unverifiable or board.fail_unverifiable for board in boards)


def make_audited(audit: RunAudit, record: BlobRef) -> Audited:
    """What a card says of an audit."""
    finals = final_attempts(audit)
    return Audited(
        record=record,
        rules=audit.rules,
        rows={
            name: _row(board, [one for one in finals if one.cell.solver == name])
            for name, board in audit.boards.items()
        },
        cells={
            one.cell.key: AuditCell(
                verdicts={axis: verdict.name for axis, verdict in one.axes.items()},
                standing=standing(one),
                access=one.access,
                training=one.training.relation,
            )
            for one in finals
        },
        bases=dict(audit.bases),
    )


def final_attempts(audit: RunAudit) -> list[AttemptAudit]:
    """The last try of each cell, in the order of the audit."""
    last: dict[str, AttemptAudit] = {}
    for one in audit.attempts:
        if one.cell.key not in last or last[one.cell.key].attempt_try < one.attempt_try:
            last[one.cell.key] = one
    return list(last.values())


def _row(board: Board, attempts: Sequence[AttemptAudit]) -> AuditRow:
    counted = [one for one in attempts if in_denominator(one.outcome)]
    raw = _mean((one.cell.task, one.outcome is Outcome.SOLVED) for one in counted)
    clean = _mean((one.cell.task, one.outcome is Outcome.SOLVED and standing(one) == "clean") for one in counted)
    unsure = sum(standing(one) == "unverifiable" for one in counted)
    reason = f"{unsure} of {len(counted)} attempts can't be verified"
    return AuditRow(board=board, raw=raw, clean=missing(reason) if unsure else clean, clean_at_least=clean)


def _mean(results: Iterable[tuple[str, bool]]) -> Figure:
    average = task_mean([[Fraction(won) for won in group] for group in by_task(results).values()])
    return missing("no attempt counts") if average is None else known(average)


def audit_follows(card: Card, audit: RunAudit) -> Iterator[str]:
    """Whether what a card says of its audit is what the audit's record gives: one line for what is not."""
    stated = card.stamp.audit.audited
    last = {one.cell.key: one.record.digest for one in card.stamp.evidence if one.record is not None}
    named = {one.cell.key: one.record for one in final_attempts(audit)}
    if audit.plan != card.core.plan.id or named != last:
        yield "stamp.audit: the audit is of other attempts"
    elif stated is None or make_audited(audit, stated.record) != stated:
        yield "stamp.audit: is not what the audit gives"
