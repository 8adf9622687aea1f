"""Edits an outcome on a card and works out every digest anew."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.verified import verified

PAIR = Pair(
    stage=Stage.SCORE,
    attack=verified(lambda value: value["core"]["cells"][1].update(outcome="solved")),
    verdict=("tampered: core.cells[1].outcome",),
    honest="stamps the same again",
    control=verified(lambda _: None),
    control_ends="clean",
)
