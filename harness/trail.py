"""What the stages of one try leave, and how one of them ends it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.evidence import CaptureRecord, GradeRecord, SeedRecord, SelectingRecord, SolveRecord, TraceRecord
from harness.gateway.records import AttemptTraffic
from harness.outcomes import Ending
from harness.scan.records import ScanRecord


class Ended(Exception):
    """Raised by a stage after which there is none."""

    def __init__(self, ending: Ending, kind: str = "", reason: str = "") -> None:
        self.ending = ending
        self.kind = kind
        self.reason = reason
        super().__init__(reason)


@dataclass
class Trail:
    """What the stages left so far; whatever ends the attempt, this much is evidence."""

    seed: SeedRecord | None = None
    baseline: GradeRecord | None = None
    solve: SolveRecord | None = None
    capture: CaptureRecord | None = None
    selecting: SelectingRecord | None = None
    grade: GradeRecord | None = None
    scan: ScanRecord | None = None
    traces: tuple[TraceRecord, ...] = ()
    traffic: AttemptTraffic | None = None
