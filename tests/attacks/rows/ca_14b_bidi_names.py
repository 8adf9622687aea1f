"""A file's name with a control that turns the text around."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        fix; touch "$(printf 'a\342\200\256gpj.py')"
        """,
    ),
    verdict=("rejected: bad_path",),
    honest="a file's name in a script that runs from right to left",
    control=Solve("fix; touch קרא.md"),
)
