"""Reads what is expected out of the memory and the descriptors of the process that started it."""

from tests.attacks.pair import Pair, Patch, Stage, code
from tests.attacks.workshop import ADD, BROKEN

PAIR = Pair(
    stage=Stage.GRADE,
    attack=Patch(
        {
            "pkg/core.py": code(
                r"""
                import os

                parent = os.getppid()
                for name in ('mem', 'environ', *(f'fd/{n}' for n in range(64))):
                    try:
                        open(f'/proc/{parent}/{name}', 'rb').read(1)
                    except OSError:
                        continue
                    os._exit(0)
                """,
                BROKEN,
            ),
        },
    ),
    verdict=("failed", "group sums: 3 of 3 failed; first test 1: failed"),
    honest="reads its own status in /proc",
    control=Patch(
        {
            "pkg/core.py": code(
                r"""
                with open('/proc/self/status') as status:
                    status.read()
                """,
                ADD,
            ),
        },
    ),
)
