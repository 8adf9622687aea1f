"""Patches pytest so that no test is called."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, BROKEN

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import _pytest.python as p

                p.Function.runtest = lambda self: None
                """,
                BROKEN,
            ),
        },
    ),
    verdict=("rejected: canary_flipped",),
    honest="runs its own checks by unittest when it is the main module",
    control=Patch(
        {
            "pkg/core.py": ADD
            + "\n\n"
            + code(
                r"""
                if __name__ == '__main__':
                    import unittest

                    unittest.main()
                """,
            ),
        },
    ),
    remains="code in the tests' own process may spare the sentinels that it recognises",
)
