"""``trialbox card publish``: a card into the index of published ones."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Options, Parser
from trialbox.guard import line, of_a_card, say


class PublishOptions(Options):
    """What ``publish`` takes."""

    name: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    about = "a card's id or its beginning, a card file, or latest (default)"
    parser.add_argument("name", metavar="CARD", nargs="?", default="latest", help=about)


@of_a_card
def publish(options: PublishOptions) -> ExitCode:
    """Add a card to cards/index.json, whose entries are chained and stay, if nothing blocks it.

    The card and all its evidence are verified first. Exit code 4 names every reason that blocks it: a dry or scripted
    run, a dirty tree, image drift, an attempt that nobody audited, a stub judge, energies that are not certified.
    """
    from harness.records import to_value
    from trialbox import places
    from trialbox.publishing import publish as published

    done = published(options.name, places.state())
    entry = done.entry
    if options.as_json:
        say({**to_value(entry), "digest": entry.digest, "new": done.new})
        return ExitCode.DONE
    labels = f" as {', '.join(label.value for label in entry.labels)}" if entry.labels else ""
    line(f"{entry.card} {'is published' if done.new else 'was published before'}{labels}")
    line(f"entry {entry.seq} of {done.path}, {entry.digest}; known runs of its plan: {entry.runs_known}")
    return ExitCode.DONE


COMMAND = Command("publish", publish, PublishOptions, declare)
