"""What a card says of contamination and tampering, as tables: the 2x2 of each solver, and each cell's verdicts."""

from __future__ import annotations

from audits.records import Axis, Relation
from harness.untrusted import clean_text
from scoring.audited import Audited, AuditRow
from scoring.card import Card
from scoring.figures import Figure
from scoring.report.table import NONE, Table

_COUNTS = ("pass clean", "pass contaminated", "fail clean", "fail contaminated", "unverifiable", "attempted")
_BOARD = ("solver", *_COUNTS, "raw pass@1", "audit-clean pass@1")


def tables(card: Card) -> tuple[Table, ...]:
    """The tables of a card's audit; none where nobody made one."""
    audited = card.stamp.audit.audited
    return () if audited is None else (boards(audited), _cells(audited))


def notes(card: Card) -> list[str]:
    """What a reader must know of them."""
    audited = card.stamp.audit.audited
    if audited is None:
        return []
    said = [f"audit {audited.record.digest} (rules {audited.rules}): annotates, and changes no outcome"]
    untold = sum(one.training in {Relation.CUTOFF_UNKNOWN, Relation.DATES_UNKNOWN} for one in audited.cells.values())
    before = sum(one.training is Relation.PRE_CUTOFF for one in audited.cells.values())
    if before:
        said.append(f"{before} attempts are at tasks that were public, or fixed upstream, before their model's cutoff")
    if untold:
        said.append(f"of {untold} attempts it is not known whether the task is newer than the model's cutoff")
    return said


def boards(audited: Audited) -> Table:
    """The 2x2 of each solver, with the raw figure beside the clean one."""
    return Table(
        "audit: passed or not, clean or contaminated", _BOARD, tuple(_row(*one) for one in audited.rows.items())
    )


def _row(name: str, row: AuditRow) -> tuple[str, ...]:
    board = row.board
    return (
        clean_text(name),
        str(board.pass_clean),
        str(board.pass_contaminated),
        str(board.fail_clean),
        str(board.fail_contaminated),
        str(board.pass_unverifiable + board.fail_unverifiable),
        str(board.attempted),
        _figure(row.raw),
        _figure(row.clean) if row.clean.value is not None else f"≥{_figure(row.clean_at_least)}",
    )


def _figure(figure: Figure) -> str:
    return NONE if figure.fraction is None else f"{float(figure.fraction):.3f}"


def _cells(audited: Audited) -> Table:
    rows = []
    for key, cell in audited.cells.items():
        solver, task, attempt = key.split("/", 2)
        verdicts = (cell.verdicts.get(axis, NONE) for axis in Axis)
        access = cell.access.value if cell.verdicts else NONE
        rows.append((clean_text(task), clean_text(solver), attempt, *verdicts, access, cell.training.value))
    columns = ("task", "solver", "#", *(axis.value for axis in Axis), "access", "training")
    return Table("audit: verdicts", columns, tuple(rows))
