"""Hard links to files that are not its own to read."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        ln /etc/shadow stolen && echo LOOT; ln /etc/passwd names && echo LOOT
        ln /proc/1/environ other && echo LOOT; echo "found nothing"
        """,
    ),
    verdict=("failed", "found nothing"),
    honest="hard links within the tree",
    control=Solve("fix; ln README.md twin"),
)
