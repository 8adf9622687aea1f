"""Edits an energy on a card and works out every digest anew."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.verified import verified

PAIR = Pair(
    stage=Stage.SCORE,
    attack=verified(lambda value: value["measured"]["cells"][1]["energy"].update(active_uj=1)),
    verdict=("tampered: measured.cells[1].energy.active_uj",),
    honest="stamps the same again",
    control=verified(lambda _: None),
    control_ends="clean",
)
