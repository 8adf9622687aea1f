"""A solver that does nothing, crashes, or can't be started."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=Solve("kill -SEGV $$"),
    verdict=("failed", "group titles: 2 of 2 failed"),
    honest="mends the code and then crashes",
    control=Solve("fix; kill -SEGV $$"),
)
