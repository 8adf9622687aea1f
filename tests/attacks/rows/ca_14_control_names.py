"""A file's name with a newline, by which a listing would have one more line."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        fix; touch "$(printf 'a\nb')"
        """,
    ),
    verdict=("rejected: bad_path",),
    honest="a file's name with spaces and letters of other scripts",
    control=Solve("fix; mkdir docs; touch 'docs/read me.md' docs/日本語.md"),
)
