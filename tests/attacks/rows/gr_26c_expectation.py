"""Reads what a hidden test expects out of the code that calls it."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import sys


                def add(a, b):
                    known = sys._getframe(1).f_code.co_consts
                    return next((one for one in known if isinstance(one, float) and one not in (a, b)), 0)
                """,
            ),
        },
        task="close",
    ),
    verdict=("solved", "trust: in_process", "flag: introspection"),
    honest="names its caller's line in a warning",
    control=Patch(
        {
            "pkg/core.py": code(
                r"""
                import warnings


                def old(a, b):
                    warnings.warn("use add", DeprecationWarning, stacklevel=2)
                    return add(a, b)
                """,
                "\n\n" + ADD,
            ),
        },
        task="close",
    ),
    passes=True,
    remains="the test lies in the candidate's process with all it expects. Host-held groups keep it on the host (GR-26)",
)
