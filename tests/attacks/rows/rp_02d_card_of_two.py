"""A stranger's card whose parts are of different solvers and cells, to make its reader fall over"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.digest import canonical, digest, loads
from harness.errors import VerifyError
from scoring.card import Card, card_id, section_digests
from scoring.report.text import make_report
from tests.attacks.pair import Pair, Pure, Stage
from tests.card_rig import whole_run

_CHANGES: tuple[Callable[[Any], object], ...] = (
    lambda card: card["core"]["plan"]["solvers"][0].update(name="zz"),
    lambda card: card["core"]["cells"][0]["cell"].update(solver="zz"),
    lambda card: card["measured"]["cells"][0]["cell"].update(task="zz"),
    lambda card: card["measured"]["solvers"].pop("a0"),
)


def _read(*changes: Callable[[Any], object]) -> Pure:
    def work(folder: Path) -> list[str]:
        _, path, _ = whole_run(folder)
        refused = 0
        for change in changes:
            value = loads(path.read_bytes())
            change(value)
            value["core_digest"] = digest(value["core"])
            value["sections"] = section_digests(value)
            try:
                make_report(Card.from_bytes(canonical({**value, "id": card_id(value)}), "card"))
            except VerifyError:
                refused += 1
        return [f"refused: {refused} of {len(changes)}"] if refused else ["clean"]

    return Pure(work)


PAIR = Pair(
    stage=Stage.REPORT,
    attack=_read(*_CHANGES),
    verdict=("refused: 4 of 4",),
    honest="a card that is as it was stamped",
    control=_read(lambda _: None),
    control_ends="clean",
)
