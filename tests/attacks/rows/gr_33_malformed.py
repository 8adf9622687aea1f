"""Answers made to be evaluated or to break a parser: pickles, deep and endless values."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Solve(
        r"""
        cat > pkg/words.py <<'E'
        class Run:
            def __reduce__(self): return (eval, ("1",))
        def greet(name):
            deep = []
            for _ in range(100_000): deep = [deep]
            return Run() if name == "Bo" else deep
        E
        """,
    ),
    verdict=("failed", "group titles: 2 of 2 failed"),
    honest="returns plain values",
    control=Solve("fix"),
)
