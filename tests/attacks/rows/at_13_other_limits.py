"""Gives itself more time or other tests, and stands beside those who had less."""

from tests.attacks.compared import compared
from tests.attacks.pair import Pair, Stage
from tests.plans import plan

PAIR = Pair(
    stage=Stage.SCORE,
    attack=compared(tasks=(plan().tasks[0], plan().tasks[1].model_copy(update={"score_hash": "sha256:" + "1" * 64}))),
    verdict=("not compared: selected tasks",),
    honest="is compared on the same tasks",
    control=compared(),
    control_ends="clean",
)
