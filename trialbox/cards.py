"""From what a user typed to a card that is at least itself: its bytes and its digests agree."""

from __future__ import annotations

from harness.errors import UserError, VerifyError
from harness.ledger import Ledger
from scoring.card import Card, find_card, read_card
from scoring.verify import verify_bytes
from trialbox import places


def load(name: str) -> Card:
    """The card of that id, beginning of an id, or path, or ``latest``.

    Raises:
        UserError: there is none.
        VerifyError: its bytes were changed.
    """
    path = find_card(places.state().cards, name)
    card, problems = verify_bytes(read_card(path), expected_id(name, path.stem))
    if card is None or problems:
        raise VerifyError(f"card {name}", problems[0], f"`trialbox card verify {name}` says all; put back a copy")
    return card


def expected_id(name: str, stem: str) -> str | None:
    """The id that a card must have to be the one asked for; a file elsewhere may have any."""
    return f"sha256:{stem}" if len(stem) == 64 and name != stem else None


def of_run(name: str) -> str | None:
    """The card that a run led to; None if *name* is no run here.

    Raises:
        UserError: the run has no card yet.
    """
    state = places.state()
    if not state.ledger.exists():
        return None
    with Ledger(state.ledger) as ledger:
        runs = {run.id: run for run in ledger.runs()}
    run = runs.get(name)
    if run is None:
        return None
    if run.card is None:
        raise UserError(
            f"run {name}", f"has no card: {run.ended} of {run.cells} attempts ended", f"trialbox run --resume {name}"
        )
    return run.card
