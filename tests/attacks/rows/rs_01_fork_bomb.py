"""Processes without end while it is graded."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Solve(
        r"""
        cat > pkg/words.py <<'E'
        import os
        while True:
            try: os.fork()
            except OSError: pass
        E
        """,
        limits={"grade_wall_s": 8},
    ),
    verdict=("failed", "group titles: 2 of 2 failed"),
    honest="starts a few threads",
    control=Solve(
        r"""
        fix; cat >> pkg/words.py <<'E'
        import threading
        for _ in range(8): threading.Thread(target=len, args=("x",)).start()
        E
        """,
        limits={"grade_wall_s": 60},
    ),
)
