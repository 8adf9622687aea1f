"""A trajectory from elsewhere: an agent's own word, audited as far as it goes. Nothing in it can be called clean.

What a log shows was tried was tried. That nothing else was, only traces of the host could show, and there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

from audits.needles import Needle
from audits.records import Axis, Citation, Fact, Kind, Source, TrajectoryAudit
from audits.transcripts import LogSeen, audit_log
from audits.transcripts.stream import Read
from audits.verdict import Ground, Notebook, access_of, decide
from harness.records import Coverage

ONLY_A_LOG = "only what the agent wrote down is known; no trace of the host's"


def audit_trajectory(read: Read, needles: Sequence[Needle] = ()) -> TrajectoryAudit:
    """Audit one log.

    Args:
        read: gives up to so many bytes of it, none at its end. It is read once, in pieces.
        needles: secrets of known tasks to look for.
    """
    book = Notebook()
    log = audit_log(read, book, needles=needles)
    _note_hits(log, book)
    whole = log.coverage is Coverage.FULL
    ground = Ground(
        Coverage.PARTIAL if log.steps else Coverage.NONE, log.reason if not whole else ONLY_A_LOG, firm=whole
    )
    axes = {axis: decide(axis, book.of(axis), ground, passed=False) for axis in Axis}
    return TrajectoryAudit(
        format=log.format,
        steps=log.steps,
        calls=log.calls,
        axes=axes,
        access=access_of(one for axis, one in axes.items() if axis is not Axis.GRADING),
        coverage=ground.coverage,
        reason=ground.reason,
    )


def _note_hits(log: LogSeen, book: Notebook) -> None:
    for needle, hit in log.hits.items():
        cite = Citation(source=Source.TRANSCRIPT, at=f"near byte {hit.offset}")
        if needle in log.opening:
            detail = f"{needle.name} was said before the agent began"
            book.add(Axis.SUBMITTER, Kind.HARNESS_LEAK, Fact.EXPOSURE, detail, cite)
        elif needle.kind is Kind.HONEYTOKEN:
            book.add(Axis.FILESYSTEM, needle.kind, Fact.EMPTY, f"token of {needle.name}", cite)
        else:
            undecided = needle.kind is not Kind.NONCE
            detail = f"{needle.name}: training or access, undecided" if undecided else f"{needle.name} before the model"
            book.add(Axis.FILESYSTEM, needle.kind, Fact.EXPOSURE, detail, cite)
