"""A compiled module in the place of a source, which nobody can read."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("fix; cp /usr/bin/true pkg/_words.so"),
    verdict=("rejected: compiled_artifact",),
    honest="adds a picture",
    control=Solve(
        r"""
        fix; printf '\211PNG\r\n\032\n' > docs.png
        """,
    ),
)
