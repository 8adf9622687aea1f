"""``trialbox card``: the cards here, one of them, and whether it is what it says."""

from __future__ import annotations

from harness.errors import ExitCode
from trialbox.arguments import Command, Group, Options, Parser
from trialbox.guard import line, say


class CardOptions(Options):
    """What a command about one card takes."""

    name: str


def declare(parser: Parser) -> None:
    """Its arguments."""
    about = "a card's id or its beginning, a card file, or latest (default)"
    parser.add_argument("name", metavar="CARD", nargs="?", default="latest", help=about)


def list_cards(options: Options) -> ExitCode:
    """List the cards of this state folder, oldest first."""
    from scoring.card import card_ids, card_path, read_card
    from scoring.verify import verify_bytes
    from trialbox import places

    folder = places.state().cards
    rows: list[dict[str, object]] = []
    for identity in card_ids(folder):
        card, problems = verify_bytes(read_card(card_path(folder, identity)), identity)
        if card is None or problems:
            rows.append({"id": identity, "damaged": problems[0]})
            continue
        plan = card.core.plan
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
            }
        )
    if options.as_json:
        say({"cards": rows})
    for row in [] if options.as_json else rows:
        line(f"{row['id']}  {_summary(row)}")
    return ExitCode.DONE


def show_card(options: CardOptions) -> ExitCode:
    """Show a card: its table, or with --json the card itself."""
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console
    from trialbox.cards import load

    card = load(options.name)
    if options.as_json:
        say(to_value(card))
    else:
        console.show(make_report(card))
    return ExitCode.DONE


def verify_card(options: CardOptions) -> ExitCode:
    """Check a card and all its evidence, offline: 0 if whole, 1 if not, naming what is wrong."""
    from harness.store import LocalStore
    from scoring.card import find_card, read_card
    from scoring.verify import verify_card as verify
    from trialbox import places
    from trialbox.cards import expected_id

    state = places.state()
    path = find_card(state.cards, options.name)
    result = verify(read_card(path), LocalStore(state.blobs), expected_id(options.name, path.stem))
    identity = result.card.id if result.card else None
    if options.as_json:
        say({"id": identity, "ok": result.ok, "problems": list(result.problems), "blobs": result.blobs})
    elif result.ok:
        line(f"{identity} is whole: core, measured values and {result.blobs} blobs are what they say")
    else:
        for problem in result.problems:
            line(f"{path.name}: {problem}")
    return ExitCode.DONE if result.ok else ExitCode.NO


def _summary(row: dict[str, object]) -> str:
    if "damaged" in row:
        return f"DAMAGED: {row['damaged']}"
    solved = row["solvers"] if isinstance(row["solvers"], dict) else {}
    results = ", ".join(f"{name} {result}" for name, result in solved.items())
    partial = " (partial)" if row["partial"] else ""
    return f"{row['suite']} {row['suite_version']}{partial}  {row['mode']}/{row['provider']}  {results}"


GROUP = Group(
    "card",
    "Stamped cards.",
    (
        Command("list", list_cards, Options),
        Command("show", show_card, CardOptions, declare),
        Command("verify", verify_card, CardOptions, declare),
    ),
)
