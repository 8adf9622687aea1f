"""``trialbox compare``: a card against an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import ExitCode, UserError
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import of_a_card, say

if TYPE_CHECKING:
    from scoring.board import Board

WORSE = "worse"


class CompareOptions(Options):
    """What ``compare`` takes."""

    first: str
    second: str
    solver: list[str] | None
    fail_on: str | None


def declare(parser: Parser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("first", metavar="A", help="the card to compare against: its id or its beginning, a card file, or latest")
    add("second", metavar="B", nargs="?", default="latest", help="the card that is compared with it (default: latest)")
    which = "solver X of A with Y of B; repeatable (default: those of the same name)"
    add("--solver", metavar="X[:Y]", action="append", help=which)
    add("--fail-on", metavar="worse", help="exit 1 where a solver of B is separated from its match on A, and worse")


@of_a_card
def compare(options: CompareOptions) -> ExitCode:
    """Compare card B with card A: which tasks flipped, paired differences, and whether they separate.

    Every difference is B minus A. Cards that may not be compared are refused (exit code 4), saying what differs; where
    hardware, harness version, concurrency or execution mode differ, times and energies are shown without a difference.
    """
    if options.fail_on not in {None, WORSE}:
        raise UserError("--fail-on", f"{options.fail_on!r} is nothing to fail on", f"known: {WORSE}")
    from harness.records import to_value
    from scoring.compare import compare as compared

    found = compared(_board(options.first), _board(options.second), options.solver or ())
    if options.as_json:
        say({**to_value(found), "worse": found.worse})
    else:
        from scoring.report.comparison import make_report
        from trialbox import console

        console.show(make_report(found))
    return ExitCode.NO if found.worse and options.fail_on == WORSE else ExitCode.DONE


def _board(name: str) -> Board:
    from scoring.card import find_card
    from scoring.reading import read_board
    from trialbox import places
    from trialbox.cards import expected_id

    path = find_card(places.state().cards, name)
    return read_board(path, name, expected_id(name, path.stem))


COMMAND = Command("compare", compare, CompareOptions, declare)
