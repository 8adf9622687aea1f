"""A card of a made-up run, offered to the gate before publishing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.records import Cell, Plan, RunMode
from harness.store import LocalStore
from scoring.card import make_card
from scoring.publish import Label, blocks, labels
from tests.attacks.pair import Pure
from tests.card_rig import MADE, Attempt, make_evidence
from tests.plans import plan

REAL = plan().model_copy(update={"mode": RunMode.REAL, "provider": "local"})
CLEAN = MADE.harness.model_copy(update={"commit": "a" * 40, "dirty": False})


def offered(of: Plan = REAL, tries: Mapping[Cell, list[Attempt | None]] | None = None, **changes: Any) -> Pure:
    def work(folder: Path) -> list[str]:
        about = {"harness": CLEAN, "certified": True, "concurrency": 1, "interventions": (), **changes}
        evidence = make_evidence(LocalStore(folder / "blobs"), of, dict(tries or {}))
        card = make_card(evidence, MADE.model_copy(update=about))
        named = [f"label: {one.value}" for one in labels(card) if one is not Label.UNVERIFIABLE]
        return [*(f"not published: {one}" for one in blocks(card)), *named] or ["clean"]

    return Pure(work)
