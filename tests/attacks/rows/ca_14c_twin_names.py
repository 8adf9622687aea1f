"""Two files whose names differ only in case."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("fix; touch Twin.md twin.md"),
    verdict=("rejected: bad_path",),
    honest="two files with names alike in different folders",
    control=Solve("fix; mkdir docs; touch docs/README.md docs/readme.txt"),
)
