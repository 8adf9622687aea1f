"""``trialbox grade``: patches made elsewhere, graded here to a card."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import say


class GradeOptions(Options):
    """What ``grade`` takes."""

    suite: str
    predictions: str
    out: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("suite", metavar="SUITE", help="a suite's name, or the path of its folder")
    shapes = "SWE-bench predictions: .jsonl, .json (a list, or an object by instance), .csv or .parquet"
    add("--predictions", metavar="FILE", required=True, help=shapes)
    add("--out", metavar="FILE", help="also write the card to this file")


def grade(options: GradeOptions) -> ExitCode:
    """Grade patches that were made elsewhere, and stamp a card.

    Each patch is applied strictly in a sealed container and graded by the task's own groups. Nothing is known of how it
    came about: the card's mode is foreign_patch, and its time, tokens and energy are null.
    """
    import sys
    from pathlib import Path

    from harness.records import to_value
    from harness.untrusted import clean_text
    from scoring.report.text import make_report
    from trialbox import console, display, places
    from trialbox.grading import grade_predictions
    from trialbox.outfile import check_out, write_out

    if options.out is not None:
        check_out(options.out, places.state())
    with display.shown() as progress:
        graded = grade_predictions(options.suite, Path(options.predictions), places.state(), progress)
    card = graded.done.card
    if options.out is not None:
        write_out(options.out, card.to_bytes(), places.state())
    if options.as_json:
        say(
            {
                "run": graded.done.run_id,
                "card": card.id,
                "core_digest": card.core_digest,
                "mode": "foreign_patch",
                "provider": card.core.plan.provider,
                "solvers": {name: to_value(row) for name, row in card.core.aggregates.items()},
                "measured": {name: to_value(row) for name, row in card.measured.solvers.items()},
                "not_in_suite": list(graded.strangers),
            }
        )
        return ExitCode.DONE
    if graded.strangers:
        named = ", ".join(clean_text(one, 60) for one in graded.strangers[:3])
        sys.stderr.write(f"{len(graded.strangers)} predictions are for no task of the suite, such as {named}\n")
    console.show(make_report(card))
    return ExitCode.DONE


COMMAND = Command("grade", grade, GradeOptions, declare)
