"""The reference and the base, graded again and again: 1.0 and 0.0 each time, well within the time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from harness.evidence import GradeRecord
from harness.suites.admission.records import Timing, failures, score, spelled
from harness.suites.groups import GroupKind

REPEATS = 3
"""Gradings of each."""

TIME_SHARE = Fraction(1, 5)
"""The most of the grade limit that the reference may use; more makes verdicts a matter of the host's load."""


def reference_faults(graded: Sequence[GradeRecord]) -> Iterator[str]:
    """One line for each grading of the reference that is not 1.0."""
    for number, record in enumerate(graded, start=1):
        if record.rejection is not None or score(record.verdicts) != 1:
            yield f"scores {spelled(score(record.verdicts))} in grading {number}: {_first(record)}"


def base_faults(graded: Sequence[GradeRecord]) -> Iterator[str]:
    """One line for each group that does on the base what it must not, in any grading."""
    seen = set()
    for record in graded:
        if record.rejection is not None:
            seen.add(f"is rejected: {record.rejection.value}")
        for one in record.verdicts:
            if one.passed is (one.kind is GroupKind.BEHAVIOUR):
                seen.add(f"{one.kind.value} group {one.name} {'passes' if one.passed else f'fails ({one.detail})'}")
    yield from sorted(seen)


def spread(graded: Sequence[GradeRecord]) -> Fraction:
    """The largest F less the smallest."""
    scores = [score(one.verdicts) for one in graded]
    return max(scores) - min(scores)


def timing(graded: Sequence[GradeRecord], limit_s: int) -> Timing:
    """What the reference took of the limit: the CPU time of its most expensive grading.

    The limit is one of wall time, which several gradings at once, or anything else on the host, stretch as they like;
    on an idle host the two are close. Where CPU time is not known, it is the wall time of the quickest grading.
    """
    cpu_us = [one.use.cpu_us for one in graded if one.use.cpu_us is not None]
    used_us = max(cpu_us) if cpu_us else min(one.wall_us for one in graded)
    limit_us = limit_s * 1_000_000
    return Timing(limit_us=limit_us, used_us=used_us, share=str(round(used_us / limit_us, 4)))


def timing_faults(timing: Timing) -> Iterator[str]:
    """A line if the reference is too slow for its limit."""
    if Fraction(timing.used_us, timing.limit_us) > TIME_SHARE:
        used, limit = timing.used_us / 1e6, timing.limit_us // 1_000_000
        yield f"the reference takes {used:.1f} s of {limit} s; at most {float(limit * TIME_SHARE):g} s are allowed"


def _first(record: GradeRecord) -> str:
    if record.rejection is not None:
        return f"{failures(record)[0]} ({record.rejection_detail})"
    failed = next((one for one in record.verdicts if not one.passed), None)
    return f"group {failed.name}: {failed.detail}" if failed else "no group was graded"
