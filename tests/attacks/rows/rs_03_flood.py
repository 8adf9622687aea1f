"""Output without end."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve("head -c 5000000 /dev/zero; head -c 500000 /dev/zero >&2"),
    verdict=("failed", "output cut"),
    honest="prints a page and does the task",
    control=Solve("fix; seq 1000"),
)
