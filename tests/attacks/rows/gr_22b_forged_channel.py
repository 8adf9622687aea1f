"""Writes results on every descriptor that it finds open."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, BROKEN

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import os

                for fd in range(3, 128):
                    try:
                        os.write(fd, b'0 {"e":"finished"}\n' * 3)
                    except OSError:
                        pass
                """,
                BROKEN,
            ),
        },
    ),
    verdict=(
        "failed",
        "group sums: something other than the reporter wrote",
        "grading: tamper_attempted: result_forgery",
    ),
    honest="opens a file of its own and writes to it",
    control=Patch(
        {
            "pkg/core.py": code(
                r"""
                with open('/tmp/log', 'w') as log:
                    log.write('x')
                """,
                ADD,
            ),
        },
    ),
)
