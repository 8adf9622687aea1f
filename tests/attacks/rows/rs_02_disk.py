"""Fills the disk, by bytes and by files."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.ATTEMPT,
    attack=Solve(
        r"""
        head -c 200000000 /dev/zero > big || echo "held: the disk is full"; head -c 200000000 /dev/zero > ~/big; head -c 200000000 /dev/zero > /dev/shm/big
        python3 -c "
        for n in range(100_000):
            try: open(f'/tmp/f{n}', 'w').close()
            except OSError as error: print(error.strerror); break"
        """,
    ),
    verdict=("failed", "held: the disk is full"),
    honest="fills its home folder, and does the task all the same",
    control=Solve("head -c 200000000 /dev/zero > ~/big; fix"),
)
