"""Leaves a cell that went badly out of the evidence."""

from pathlib import Path

from harness.errors import UserError
from harness.store import LocalStore
from scoring.card import make_card
from scoring.evidence import Evidence
from tests.attacks.pair import Pair, Pure, Stage
from tests.card_rig import MADE, make_evidence
from tests.plans import plan


def _stamped(dropped: int) -> Pure:
    def work(folder: Path) -> list[str]:
        whole = make_evidence(LocalStore(folder / "blobs"), plan(), {})
        try:
            make_card(Evidence(whole.plan, whole.tries[dropped:], whole.records), MADE)
        except UserError as error:
            return [f"no card: {error.problem}"]
        return ["clean"]

    return Pure(work)


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_stamped(1),
    verdict=("no card: cell",),
    honest="all cells are there",
    control=_stamped(0),
    control_ends="clean",
)
