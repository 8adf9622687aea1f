"""A file with a hole of gigabytes."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("fix; truncate -s 8G big"),
    verdict=("rejected: tree_too_large",),
    honest="a file with a small hole",
    control=Solve("fix; truncate -s 100K hole"),
)
