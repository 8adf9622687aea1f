"""Markup in a text that a report shows, by which it would get a link or a colour."""

from tests.attacks.pair import Pair, Stage
from tests.attacks.reported import shown

PAIR = Pair(
    stage=Stage.REPORT,
    attack=shown("[link=https://evil.example]solved[/link]", "[link=https://evil.example]solved[/link]"),
    verdict=("as it is",),
    honest="a text with a bracket",
    control=shown("see [1]"),
    control_ends="clean",
)
