"""``trialbox card``: the cards here, one of them, and what else is done with one, a module each."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.commands import card_bundle, card_publish, card_schema, card_sign, card_verify
from trialbox.guard import line, of_a_card, say


class CardOptions(Options):
    """What a command about one card takes."""

    name: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    about = "a card's id or its beginning, a card file, or latest (default)"
    parser.add_argument("name", metavar="CARD", nargs="?", default="latest", help=about)


def list_cards(options: Options) -> ExitCode:
    """List the cards of this state folder, oldest first.

    Exit code 1 where the index of published ones was changed.
    """
    from harness.errors import VerifyError
    from scoring.card import card_ids, card_path, read_card
    from scoring.publish import Index
    from scoring.verify import verify_bytes
    from trialbox import places
    from trialbox.publishing import index_of

    folder = places.state().cards
    problem = None
    try:
        index = index_of(places.state())
    except VerifyError as error:
        index, problem = Index(), str(error)
    rows: list[dict[str, object]] = []
    for identity in card_ids(folder):
        card, problems = verify_bytes(read_card(card_path(folder, identity)), identity)
        if card is None or problems:
            rows.append({"id": identity, "damaged": problems[0]})
            continue
        plan = card.core.plan
        entry = index.entry_of(identity)
        rows.append(
            {
                "id": identity,
                "core_digest": card.core_digest,
                "suite": plan.suite.name,
                "suite_version": plan.suite.version,
                "partial": plan.partial,
                "mode": plan.mode.value,
                "provider": plan.provider,
                "solvers": {name: f"{row.solved}/{row.counted}" for name, row in card.core.aggregates.items()},
                "published": None if entry is None else [label.value for label in entry.labels],
            }
        )
    if options.as_json:
        say({"cards": rows, "published": len(index.entries), "index_problem": problem})
    for row in [] if options.as_json else rows:
        line(f"{row['id']}  {_summary(row)}")
    if problem is not None and not options.as_json:
        line(f"INDEX DAMAGED: {problem}")
    return ExitCode.DONE if problem is None else ExitCode.NO


@of_a_card
def show_card(options: CardOptions) -> ExitCode:
    """Show a card: results, what went in by hash, circumstances, limits, glossary.

    With --json it is the card itself.
    """
    from harness.records import to_value
    from scoring.report.content import full_report
    from trialbox import console
    from trialbox.cards import load

    card = load(options.name)
    if options.as_json:
        say(to_value(card))
    else:
        console.show(full_report(card))
    return ExitCode.DONE


def _summary(row: dict[str, object]) -> str:
    if "damaged" in row:
        return f"DAMAGED: {row['damaged']}"
    solved = row["solvers"] if isinstance(row["solvers"], dict) else {}
    results = ", ".join(f"{name} {result}" for name, result in solved.items())
    partial = " (partial)" if row["partial"] else ""
    labels = row["published"]
    published = "" if not isinstance(labels, list) else "  published" + (f" ({', '.join(labels)})" if labels else "")
    return f"{row['suite']} {row['suite_version']}{partial}  {row['mode']}/{row['provider']}  {results}{published}"


GROUP = Group(
    "card",
    "Stamped cards.",
    (
        Command("list", list_cards, Options),
        Command("show", show_card, CardOptions, declare),
        card_verify.COMMAND,
        card_bundle.COMMAND,
        card_sign.COMMAND,
        card_publish.COMMAND,
        card_schema.COMMAND,
    ),
)
