"""Edits a stored record, which the card names by its digest."""

from pathlib import Path

from scoring.verify import verify_card
from tests.attacks.pair import Pair, Pure, Stage
from tests.card_rig import blob_path, whole_run


def _verified(more: bytes) -> Pure:
    def work(folder: Path) -> list[str]:
        card, path, store = whole_run(folder)
        record = card.stamp.evidence[-1].record
        assert record is not None
        blob = blob_path(store, record)
        blob.chmod(0o644)
        blob.write_bytes(blob.read_bytes() + more)
        result = verify_card(path.read_bytes(), store)
        return [f"tampered: {one}" for one in result.problems] or ["clean"]

    return Pure(work)


PAIR = Pair(
    stage=Stage.SCORE,
    attack=_verified(b" "),
    verdict=("tampered: blob",),
    honest="leaves it as it is",
    control=_verified(b""),
    control_ends="clean",
)
