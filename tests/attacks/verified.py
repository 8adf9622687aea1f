"""A card that was edited and stamped anew, held to its evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.digest import canonical, digest, loads
from scoring.card import card_id, section_digests
from scoring.verify import verify_card
from tests.attacks.pair import Pure
from tests.card_rig import whole_run


def verified(change: Callable[[Any], object]) -> Pure:
    def work(folder: Path) -> list[str]:
        _, path, store = whole_run(folder)
        value = loads(path.read_bytes())
        change(value)
        value["core_digest"] = digest(value["core"])
        value["sections"] = section_digests(value)
        result = verify_card(canonical({**value, "id": card_id(value)}), store)
        return [f"tampered: {one}" for one in result.problems] or ["clean"]

    return Pure(work)
