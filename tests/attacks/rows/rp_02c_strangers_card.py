"""Escapes in any text of a stranger's card, each digest worked out anew"""

import copy
import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.digest import loads
from harness.errors import VerifyError
from scoring.card import Card
from scoring.report.text import make_report
from tests.attacks.pair import Pair, Pure, Stage
from tests.card_rig import whole_run
from trialbox.console import show


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where texts are, one of each list."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, str):
            yield (*above, key)
        yield from _places(item, (*above, key))


def _with(text: str) -> Pure:
    def work(folder: Path) -> Iterator[str]:
        _, path, _ = whole_run(folder)
        whole = loads(path.read_bytes())
        shown = refused = 0
        for place in _places(whole):
            value = copy.deepcopy(whole)
            at = value
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = text
            made = io.StringIO()
            try:
                with redirect_stdout(made):
                    show(make_report(Card.model_validate_json(json.dumps(value)), task="t0"))
            except (ValidationError, VerifyError):
                refused += 1
                continue
            shown += 1
            if any(ch != "\n" and not ch.isprintable() for ch in made.getvalue()):
                yield f"LOOT by {'.'.join(map(str, place))}"
        assert shown > 30 and refused > 30, (shown, refused)
        yield "clean: nothing that a terminal obeys"

    return Pure(work)


PAIR = Pair(
    stage=Stage.REPORT,
    attack=_with("x\x1b]52;c;eA==\x07\x9b2J\u202e\u2028y"),
    verdict=("clean: nothing that a terminal obeys",),
    honest="letters of other scripts in any text of a card",
    control=_with("für קרא 日本語"),
    control_ends="clean",
)
