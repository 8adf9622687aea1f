"""Replaces builtins that tests are written with: all, any, isinstance."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, BROKEN

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import builtins

                builtins.all = lambda items: True
                """,
                BROKEN,
            ),
        },
    ),
    verdict=("rejected: canary_flipped",),
    honest="has a function of its own called all",
    control=Patch(
        {
            "pkg/core.py": code(
                r"""
                def all(items):
                    return bool(items)
                """,
                "\n\n" + ADD,
            ),
        },
    ),
)
