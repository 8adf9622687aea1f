"""A program that would run as its owner."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve("fix; cp /bin/true su; chmod 4755 su"),
    verdict=("rejected: bad_mode",),
    honest="makes a script executable",
    control=Solve(
        r"""
        fix; printf '#!/bin/sh\n' > run; chmod 755 run
        """,
    ),
)
