"""Swaps a folder for a link to another, over and over and beyond its own end, to race whoever copies the tree."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        fix; mkdir data; for n in 1 2 3 4 5 6 7 8; do echo $n > data/$n; done
        cat > /tmp/swaps.py <<'E'
        import os
        while True:
            os.rename("data", "away")
            os.symlink("pkg", "data")
            os.unlink("data")
            os.rename("away", "data")
        E
        setsid python3 /tmp/swaps.py > /dev/null 2>&1 < /dev/null & sleep 1; kill -0 $! && echo "held: it goes on"
        """,
    ),
    verdict=("solved", "held: it goes on", "same bytes graded"),
    never=("infra", "the host's fault", "rejected", "failed"),
    honest="leaves a server running when it is done",
    control=Solve("(setsid python3 -m http.server 8099 > /dev/null 2>&1 &); fix"),
)
