"""``trialbox report``: the table of a run or a card."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.errors import ExitCode, UserError
from trialbox.guard import Json, say


def report(
    name: Annotated[str, typer.Argument(metavar="RUN|CARD", help="A run, a card, a card file, or latest.")] = "latest",
    task: Annotated[str | None, typer.Option(help="Only the attempts at this task.")] = None,
    as_json: Json = False,
) -> ExitCode:
    """Print the table of a run or card."""
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console
    from trialbox.cards import load, of_run

    card = load(of_run(name) or name)
    known = [one.task for one in card.core.plan.tasks]
    if task is not None and task not in known:
        raise UserError("--task", f"{task!r} is not on this card", f"its tasks are: {', '.join(known)}")
    if as_json:
        say(
            {
                "id": card.id,
                "core_digest": card.core_digest,
                "mode": card.core.plan.mode.value,
                "provider": card.core.plan.provider,
                "solvers": {solver: to_value(row) for solver, row in card.core.aggregates.items()},
                "measured": {solver: to_value(row) for solver, row in card.measured.solvers.items()},
                "cells": [to_value(cell) for cell in card.core.cells if task in {None, cell.cell.task}],
            }
        )
    else:
        console.show(make_report(card, task=task))
    return ExitCode.DONE
