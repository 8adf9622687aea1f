"""A plugin of pytest as the entry point of a distribution in the tree."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, EVIL, PYPROJECT

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "evil-1.dist-info/entry_points.txt": code(
                r"""
                [pytest11]
                evil = evil
                """,
            ),
            "evil-1.dist-info/METADATA": code(
                r"""
                Name: evil
                Version: 1
                """,
            ),
            "evil.py": EVIL,
        },
    ),
    verdict=("failed", "group sums: 3 of 3 failed"),
    honest="gives the project a command by an entry point",
    control=Patch(
        {
            "pkg/core.py": ADD,
            "pyproject.toml": PYPROJECT
            + code(
                r"""
                [project.scripts]
                add = "pkg.core:add"
                """,
            ),
        },
    ),
)
