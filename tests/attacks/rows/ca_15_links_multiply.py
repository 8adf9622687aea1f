"""A small tree that a copy of it would make many times as large: hard links of one file."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("head -c 20000000 /dev/zero > big; for n in 1 2 3 4 5; do ln big b$n; done"),
    verdict=("rejected: tree_too_large",),
    honest="adds a sample of 1 MB",
    control=Solve("fix; mkdir data; head -c 1000000 /dev/zero > data/sample"),
)
