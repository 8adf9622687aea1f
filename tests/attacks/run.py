"""Runs a row: the attack and its control, each held to what it must end in."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from tests.attacks.facts import LOOT, alarms
from tests.attacks.pair import Deed, Engine, Pair, Patch, Pure, Row, Solve
from tests.attacks.workshop import Workshop


@dataclass(frozen=True)
class Result:
    """What was noticed of a row's two halves, and what of it is not as it must be; empty is right."""

    row: Row
    attack: tuple[str, ...]
    control: tuple[str, ...]
    wrong: tuple[str, ...]


def needs_engine(row: Row) -> bool:
    """Whether any half of a row runs containers."""
    return not (isinstance(row.pair.attack, Pure) and isinstance(row.pair.control, Pure))


def run_row(row: Row, workshop: Workshop | None) -> Result:
    """Run both halves. *workshop* may be None for a row that needs no engine."""
    try:
        attack = tuple(_done(row.pair.attack, workshop))
        control = tuple(_done(row.pair.control, workshop))
    except BaseException as error:
        error.add_note(f"attack {row.id}")
        raise
    traces = workshop is not None and workshop.traces
    return Result(row, attack, control, tuple(_wrong(row.pair, attack, control, traces=traces)))


def _done(deed: Deed, workshop: Workshop | None) -> list[str]:
    if isinstance(deed, Pure):
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            return list(deed.work(Path(folder)))
    assert workshop is not None
    match deed:
        case Solve():
            if deed.before is not None:
                workshop.solve(deed.before, deed.task, deed.limits)
            return workshop.facts(workshop.solve(deed.script, deed.task, deed.limits), deed.task)
        case Patch():
            return workshop.facts(workshop.patch(deed.files, deed.diff, deed.task), deed.task)
        case Engine():
            return list(deed.work(workshop))
        case _:
            assert_never(deed)


def _wrong(pair: Pair, attack: Sequence[str], control: Sequence[str], *, traces: bool) -> list[str]:
    wanted = [*pair.verdict, *(pair.traced if traces or not pair.traced else (pair.untraced,))]
    wrong = [f"attack: no {one!r}" for one in wanted if not any(fact.startswith(one) for fact in attack)]
    wrong += [f"attack: {fact}" for fact in attack if fact.startswith((LOOT, *pair.never))]
    if not any(fact.startswith(pair.control_ends) for fact in control):
        wrong.append(f"control: no {pair.control_ends!r}")
    return wrong + [f"control is flagged: {fact}" for fact in alarms(control) if not fact.startswith(pair.control_ends)]
