"""Takes a piece of evidence off a card and works out every digest anew."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.verified import verified

PAIR = Pair(
    stage=Stage.SCORE,
    attack=verified(lambda value: value["stamp"]["evidence"].pop()),
    verdict=("tampered: stamp.evidence",),
    honest="stamps the same again",
    control=verified(lambda _: None),
    control_ends="clean",
)
