"""What one resolved cell takes: a sum over all cells divided by the resolved ones, and how well it is known."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from scoring.statistics.student import root


def per_resolved(by_task: Sequence[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction | None] | None:
    """The ratio and its standard error; None where nothing is resolved.

    The error is the linearised one (Cochran 1977, Sampling Techniques, 6.4), with tasks as clusters: for the ratio R
    of sums and residuals e = spent - R resolved of each of G tasks, sqrt(G / (G - 1) sum e^2) / sum of resolved. It
    is None under two tasks.

    Args:
        by_task: of each task, what all its cells took together and how many of them were resolved.
    """
    resolved = sum((won for _, won in by_task), Fraction())
    if not resolved:
        return None
    tasks = len(by_task)
    ratio = sum((spent for spent, _ in by_task), Fraction()) / resolved
    if tasks < 2:
        return ratio, None
    squares = sum(((spent - ratio * won) ** 2 for spent, won in by_task), Fraction())
    return ratio, root(squares * tasks / (tasks - 1)) / resolved
