"""Stands with answers of a script beside those of models."""

from harness.records import RunMode
from tests.attacks.compared import compared
from tests.attacks.pair import Pair, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=compared(mode=RunMode.REAL, provider="local"),
    verdict=("not compared: mode and provider",),
    honest="is compared with its like",
    control=compared(),
    control_ends="clean",
)
