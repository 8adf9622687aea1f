"""Escapes in a text that a report shows: colours, the clipboard, the title, a line over another."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.reported import shown

PAIR = Pair(
    stage=Stage.REPORT,
    attack=shown("\x1b]52;c;eA==\x07\x1b[2K\rsolved"),
    verdict=("escaped",),
    honest="a text with letters of other scripts",
    control=shown("für 日本語"),
    control_ends="clean",
)
