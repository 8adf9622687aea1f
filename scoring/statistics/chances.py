"""pass@k and pass^k of one task, exact and unbiased.

Of n attempts, c solved: the share of all k-subsets of them with at least one solved, 1 - C(n-c, k) / C(n, k) (Chen et
al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1), and with all solved, C(c, k) / C(n, k) (Yao et
al. 2024, "tau-bench"). The plug-in 1 - (1 - c/n)^k is biased and not used. Both are of the task's own attempts: a
task that lacks some is neither deflated by those of the others nor given a figure for a k that it does not reach.
"""

from __future__ import annotations

import math
from fractions import Fraction


def pass_at(k: int, attempts: int, solved: int) -> Fraction | None:
    """The chance that at least one of k attempts solves; None below k attempts.

    Raises:
        ValueError: k is under 1, or more are solved than there are.
    """
    if not _reached(k, attempts, solved):
        return None
    return 1 - Fraction(math.comb(attempts - solved, k), math.comb(attempts, k))


def pass_all(k: int, attempts: int, solved: int) -> Fraction | None:
    """The chance that all of k attempts solve; None below k attempts.

    Raises:
        ValueError: as in pass_at().
    """
    if not _reached(k, attempts, solved):
        return None
    return Fraction(math.comb(solved, k), math.comb(attempts, k))


def shown_ks(attempts: int) -> tuple[int, ...]:
    """The k that a card shows beyond 1: up to five all of them, then 10, 20, 50 and so on, and the largest."""
    steps = {digit * 10**power for power in range(1, len(str(attempts)) + 1) for digit in (1, 2, 5)}
    return tuple(k for k in sorted({2, 3, 4, 5, attempts} | steps) if 2 <= k <= attempts)


def _reached(k: int, attempts: int, solved: int) -> bool:
    if k < 1 or not 0 <= solved <= attempts:
        raise ValueError(f"there is no pass@{k} of {solved} solved in {attempts}")
    return attempts >= k
