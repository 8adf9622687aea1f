"""A process that outlives the grader's test run and rewrites what it reads."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, BROKEN

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import glob
                import os

                if os.fork() == 0:
                    os.setsid()
                    while True:
                        for path in glob.glob('/grade/*/*/*'):
                            try:
                                os.unlink(path)
                            except OSError:
                                pass
                            try:
                                open(path, 'w').write('def test_sum(): pass')
                            except OSError:
                                pass
                """,
                BROKEN,
            ),
        },
    ),
    verdict=("failed", "group sums: 3 of 3 failed"),
    honest="starts a program and waits for it",
    control=Patch(
        {
            "pkg/core.py": code(
                r"""
                import subprocess

                subprocess.run(['true'], check=True)
                """,
                ADD,
            ),
        },
    ),
)
