"""Publishes a rehearsal, in which a script played the model."""

from harness.records import RunMode
from tests.attacks.offered import REAL, offered
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=offered(REAL.model_copy(update={"mode": RunMode.DRY})),
    verdict=("not published: mode: dry",),
    honest="publishes a real run",
    control=offered(),
    control_ends="clean",
)
