"""What a comparison could find, as readers see it: rough with few tasks, and misleading with very few."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from scoring.figures import DecimalString
from scoring.report.table import NONE, places
from scoring.statistics.paired import APPROXIMATE_BELOW, SHOWN_FROM


def detectable(value: DecimalString | None, tasks: int) -> str:
    """The figure of a comparison of so many tasks: ``~`` where it is approximate, a dash where none is shown."""
    if value is None or tasks < SHOWN_FROM:
        return NONE
    return f"{'~' if tasks < APPROXIMATE_BELOW else ''}{places(Fraction(value))}"


def limits(sizes: Iterable[int]) -> str:
    """What a note on the figures of comparisons of these sizes adds; empty where they are as good as they say."""
    known = set(sizes)
    said = [f"~: approximate, fewer than {APPROXIMATE_BELOW} tasks"] * any(
        SHOWN_FROM <= tasks < APPROXIMATE_BELOW for tasks in known
    )
    said += [f"not shown below {SHOWN_FROM} tasks"] * any(tasks < SHOWN_FROM for tasks in known)
    return f" ({'; '.join(said)})" if said else ""
