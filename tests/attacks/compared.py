"""Two cards of made-up runs, of which the second is another in some respect, put side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.errors import GateError
from harness.store import LocalStore
from scoring.board import board_of
from scoring.card import make_card
from scoring.compare import compare
from tests.attacks.pair import Pure
from tests.card_rig import MADE, make_evidence
from tests.plans import plan


def compared(**changes: Any) -> Pure:
    def work(folder: Path) -> list[str]:
        store = LocalStore(folder / "blobs")
        boards = [
            board_of(make_card(make_evidence(store, of, {}), MADE))
            for of in (plan(), plan().model_copy(update=changes))
        ]
        try:
            compare(boards[0], boards[1])
        except GateError as error:
            return [f"not compared: {error.problem}"]
        return ["clean"]

    return Pure(work)
