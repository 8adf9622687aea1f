"""``trialbox card``: the cards here, one of them, and whether it is what it says."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.errors import ExitCode
from trialbox.guard import Json, guarded, line, say

app = typer.Typer(help="Stamped cards.", no_args_is_help=True, rich_markup_mode=None)

CardName = Annotated[str, typer.Argument(metavar="CARD", help="A card's id or its beginning, a card file, or latest.")]


def list_cards(as_json: Json = False) -> ExitCode:
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
    if as_json:
        say({"cards": rows})
    for row in [] if as_json else rows:
        line(f"{row['id']}  {_summary(row)}")
    return ExitCode.DONE


def show_card(name: CardName = "latest", as_json: Json = False) -> ExitCode:
    """Show a card: its table, or with --json the card itself."""
    from harness.records import to_value
    from scoring.report.text import make_report
    from trialbox import console
    from trialbox.cards import load

    card = load(name)
    if as_json:
        say(to_value(card))
    else:
        console.show(make_report(card))
    return ExitCode.DONE


def verify_card(name: CardName = "latest", as_json: Json = False) -> ExitCode:
    """Check a card and all its evidence, offline: 0 if whole, 1 if not, naming what is wrong."""
    from harness.store import LocalStore
    from scoring.card import find_card, read_card
    from scoring.verify import verify_card as verify
    from trialbox import places
    from trialbox.cards import expected_id

    state = places.state()
    path = find_card(state.cards, name)
    result = verify(read_card(path), LocalStore(state.blobs), expected_id(name, path.stem))
    identity = result.card.id if result.card else None
    if as_json:
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


app.command("list")(guarded(list_cards))
app.command("show")(guarded(show_card))
app.command("verify")(guarded(verify_card))
