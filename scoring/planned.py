"""Whether a card's results are those of its plan, each once and in order: digests can be worked out anew by anybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness.records import Plan
from harness.untrusted import clean_text
from scoring.card import Card

NOT_PLANNED = "are not the planned ones, each once"


def planned_count(plan: Plan) -> int:
    """How many cells a plan has, without making them: a forged one may claim any number of attempts."""
    return plan.attempts * len(plan.tasks) * len(plan.solvers)


def unplanned(card: Card) -> str | None:
    """What on a card is not as planned, in one line; None if all is."""
    plan = card.core.plan
    for what, names in (("solver", [one.name for one in plan.solvers]), ("task", [one.task for one in plan.tasks])):
        twice = _twice(names)
        if twice is not None:
            return f"core.plan: names {what} {clean_text(twice, 80)} twice"
    if planned_count(plan) == 0:
        return "core.plan: plans no attempt"
    for where, cells in (("core.cells", card.core.cells), ("measured.cells", card.measured.cells)):
        if len(cells) != planned_count(plan):
            return f"{where}: {NOT_PLANNED}: there are {len(cells)}, {planned_count(plan)} are planned"
    for place, cell in enumerate(plan.cells()):
        for where, found in (("core.cells", card.core.cells), ("measured.cells", card.measured.cells)):
            if found[place].cell != cell:
                return f"{where}: {NOT_PLANNED}: at place {place} stands {found[place].cell.key}, not {cell.key}"
    return None


def _twice(names: Sequence[str]) -> str | None:
    count = Counter(names)
    return next((name for name in names if count[name] > 1), None)
