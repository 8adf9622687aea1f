"""A tree so deep that whoever walks it falls over."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        fix; python3 - <<'E'
        import os
        for _ in range(2000):
            os.mkdir("d"); os.chdir("d")
        E
        """,
    ),
    verdict=("rejected: tree_too_deep",),
    honest="adds a package six folders deep",
    control=Solve("fix; mkdir -p a/b/c/d/e/f; touch a/b/c/d/e/f/g.py"),
)
