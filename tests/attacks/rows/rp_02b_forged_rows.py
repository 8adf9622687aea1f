"""New lines and characters that turn the text around, to forge rows of a report."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.reported import shown

PAIR = Pair(
    stage=Stage.REPORT,
    attack=shown("x\nt0  a0  solved\u202edevlos\u2028y"),
    verdict=("escaped",),
    honest="a text in a script that runs from right to left",
    control=shown("קרא"),
    control_ends="clean",
)
