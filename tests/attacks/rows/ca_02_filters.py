"""Filters that git runs when a file is added or written: clean, smudge, process."""

from tests.attacks.git_programs import FILTERS
from tests.attacks.pair import Pair, Solve, Stage
from tests.attacks.planted import planted

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=planted(FILTERS),
    verdict=("solved", "host: no trace"),
    never=("failed", "rejected"),
    honest="turns line ends by git's own attribute",
    control=Solve("fix; echo '*.py text' > .gitattributes; git add -A"),
)
