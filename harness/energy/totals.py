"""A solver's energy over all its attempts, failed ones included.

A total with any missing part is None; beside it stand what is known (``at_least_uj``) and of how many attempts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from harness.energy.records import EnergyRecord, Provenance, Signed, weakest
from harness.records import Count, Record

_ONE_CLASS = "attempts differ in provenance, zone set, host or scope"


class EnergyTotals(Record):
    """Per solver, in microjoules and microseconds."""

    attempts: Count
    covered: Count
    """Attempts with an active figure: the coverage is ``covered/attempts``."""
    resolved: Count
    total_uj: Signed | None
    at_least_uj: Signed
    per_resolved_uj: Signed | None
    """All attempts' energy over the resolved ones, rounded half up."""
    per_resolved_at_least_uj: Signed | None
    """With nothing resolved, what the first resolved attempt would cost at least."""
    median_wall_us: Annotated[int, Field(ge=0)] | None
    provenance: Provenance
    """The weakest of all attempts."""
    frontier: bool
    """Whether the point may stand on an energy frontier: complete, reliable, and of one class."""
    reason: str | None
    """Why it may not."""


def total_energy(records: Sequence[EnergyRecord | None], resolved: int) -> EnergyTotals:
    """Sum up a solver's attempts.

    Args:
        records: one for each attempt, None where an attempt has no energy record at all.
        resolved: how many of them resolved their task.
    """
    present = [record for record in records if record is not None]
    active = [record.active_uj for record in present if record.active_uj is not None]
    whole = len(active) == len(records) and bool(records)
    total = sum(active) if whole else None
    reason = _reason(records, present, whole)
    return EnergyTotals(
        attempts=len(records),
        covered=len(active),
        resolved=resolved,
        total_uj=total,
        at_least_uj=sum(active),
        per_resolved_uj=(2 * total + resolved) // (2 * resolved) if total is not None and resolved else None,
        per_resolved_at_least_uj=sum(active) if records and not resolved else None,
        median_wall_us=_median([record.wall_us for record in present]) if len(present) == len(records) else None,
        provenance=weakest(
            [
                Provenance.UNAVAILABLE if record is None or record.active_uj is None else record.provenance
                for record in records
            ]
        ),
        frontier=reason is None,
        reason=reason,
    )


def _reason(records: Sequence[EnergyRecord | None], present: Sequence[EnergyRecord], whole: bool) -> str | None:
    if not whole:
        return "some attempts have no energy figure" if records else "no attempts"
    classes = {(record.provenance, record.zone_set, record.host_fingerprint, record.scope) for record in present}
    if len(classes) > 1:
        return _ONE_CLASS
    unreliable = sorted({flag.value for record in present for flag in record.marked_by})
    return f"unreliable: {', '.join(unreliable)}" if unreliable else None


def _median(values: Sequence[int]) -> int | None:
    ordered = sorted(values)
    if not ordered:
        return None
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) // 2
