"""A submodule, declared by .gitmodules."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.CAPTURE,
    attack=Solve(
        r"""
        fix; printf '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c true\n' > .gitmodules
        """,
    ),
    verdict=("rejected: nested_repository",),
    honest="adds a .gitignore and a .gitattributes",
    control=Solve("fix; echo '*.log' > .gitignore; echo '*.py text' > .gitattributes"),
)
