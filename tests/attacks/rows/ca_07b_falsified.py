"""Honest work beside a falsified store: replaced texts and commits, grafts, a cut history, files hidden from status."""

from tests.attacks.git_stores import FALSE_BASE, HIDDEN
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(FALSE_BASE, HIDDEN),
    verdict=("solved", "host: no trace", "same bytes graded"),
    never=("failed", "rejected", "other bytes graded"),
    honest="rewrites its own last commit",
    control=Solve("fix; git commit -qam x; git commit -q --amend -m y"),
)
