"""Publishes a run of a harness that was changed."""

from tests.attacks.offered import CLEAN, offered
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=offered(harness=CLEAN.model_copy(update={"dirty": True})),
    verdict=("not published: dirty tree",),
    honest="publishes a run of a commit",
    control=offered(),
    control_ends="clean",
)
