"""Modules under names of the standard library and of pytest."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "json.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
            "random.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
            "unittest/__init__.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
            "pytest.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
            "_pytest.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
            "pluggy.py": code(
                r"""
                import os
                os._exit(0)
                """,
            ),
        },
    ),
    verdict=("failed", "flag: module_shadowing: json", "group sums: 3 of 3 failed"),
    honest="renames a module",
    control=Patch(
        {
            "pkg/core.py": ADD,
            "pkg/old.py": None,
            "pkg/older.py": code(
                r"""
                def unused():
                    return 1
                """,
            ),
        },
    ),
)
