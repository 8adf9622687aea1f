"""A store that borrows objects from a folder of the host, and one that replaces the base."""

from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted("alternates", "replace"),
    verdict=("solved", "host: no trace"),
    honest="packs its repository",
    control=Solve("fix; git add -A; git commit -qm x; git gc -q"),
)
