"""Processes without end while it works."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        fix; exec python3 -c "
        import os
        while True:
            try: os.fork()
            except OSError: pass"
        """,
        limits={"wall_s": 3},
    ),
    verdict=("timeout: wall",),
    honest="runs four programs at once",
    control=Solve("fix; for n in 1 2 3 4; do sleep 0.1 & done; wait"),
)
