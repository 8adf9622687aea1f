"""Takes a card out of the index of published ones."""

from pathlib import Path

from harness.errors import VerifyError
from scoring.publish import read_index
from tests.attacks.pair import Pair, Pure, Stage
from tests.test_publish import filled


def _read(*kept: int) -> Pure:
    def work(folder: Path) -> list[str]:
        index = filled(folder)
        left = index.model_copy(update={"entries": tuple(index.entries[number] for number in kept)})
        try:
            read_index(left.to_bytes(), "index")
        except VerifyError as error:
            return [f"tampered: {error.problem}"]
        return ["clean"]

    return Pure(work)


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_read(0, 2),
    verdict=("tampered: the chain of published cards is broken",),
    honest="reads the index",
    control=_read(0, 1, 2),
    control_ends="clean",
)
