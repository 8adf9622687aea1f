"""``trialbox report``: the table of a run or a card."""

from __future__ import annotations

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import of_a_card, say

LARGE = 8 << 20
"""Bytes of a card file from which on the report drills down to one task only, and the card's lists are not all read."""
SAMPLED = 5000
"""Attempts of such a card that are looked at for the kinds of meters."""


class ReportOptions(Options):
    """What ``report`` takes."""

    name: str
    task: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    parser.add_argument(
        "name", metavar="RUN|CARD", nargs="?", default="latest", help="a run, a card, a card file, or latest (default)"
    )
    parser.add_argument("--task", metavar="ID", help="only the attempts at this task")


@of_a_card
def report(options: ReportOptions) -> ExitCode:
    """Print the table of a run or card."""
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console
    from trialbox.cards import load_file, of_run, workspaces

    file, task = load_file(of_run(options.name) or options.name), options.task
    large = file.size > LARGE
    card = file.sampled(SAMPLED) if large and not options.as_json else file.whole()
    known = [one.task for one in card.core.plan.tasks]
    if task is not None and task not in known:
        raise UserError("--task", f"{task!r} is not on this card", f"its tasks are: {', '.join(known)}")
    if options.as_json:
        say(
            {
                "id": card.id,
                "core_digest": card.core_digest,
                "mode": card.core.plan.mode.value,
                "provider": card.core.plan.provider,
                "solvers": {solver: to_value(row) for solver, row in card.core.aggregates.items()},
                "measured": {solver: to_value(row) for solver, row in card.measured.solvers.items()},
                "selection": None if card.core.selection is None else to_value(card.core.selection),
                "comparisons": [to_value(one) for one in card.core.comparisons],
                "frontiers": [to_value(one) for one in card.measured.frontiers],
                "workspaces": workspaces(card),
                "cells": [to_value(cell) for cell in card.core.cells if task in {None, cell.cell.task}],
            }
        )
    else:
        cells = file.cells_of(task) if large and task is not None else () if large else None
        console.show(make_report(card, task=task, cells=cells))
    return ExitCode.DONE


COMMAND = Command("report", report, ReportOptions, declare)
