"""Takes all memory, so that its failure looks like the machine's and is tried again."""

from tests.attacks.pair import Pair, Solve, Stage

PAIR = Pair(
    stage=Stage.SCORE,
    attack=Solve("exec python3 -c 'import itertools; x = [bytearray(10**7) for _ in itertools.count()]'"),
    verdict=("failed: oom",),
    honest="takes a tenth of it",
    control=Solve("python3 -c 'bytearray(20_000_000)'; fix"),
)
