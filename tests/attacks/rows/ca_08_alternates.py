"""A store that borrows from the host: alternates, links for objects, packs and refs, a common store, a work tree."""

from tests.attacks.git_stores import ELSEWHERE
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(*ELSEWHERE),
    verdict=("solved", "host: no trace", "same bytes graded"),
    never=("failed", "rejected", "other bytes graded"),
    honest="packs its repository",
    control=Solve("fix; git add -A; git commit -qm x; git gc -q"),
)
