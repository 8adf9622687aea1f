"""From what a user typed to a card that is at least itself: its bytes and its digests agree."""

from __future__ import annotations

from harness.errors import UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.records import from_json
from harness.store import LocalStore
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


def workspaces(card: Card) -> dict[str, str]:
    """The kept tree of each cell that has one and whose evidence is here: its tar's digest, by cell."""
    store = LocalStore(places.state().blobs)
    kept: dict[str, str] = {}
    for one in card.stamp.evidence:
        if one.record is not None and store.has(one.record.digest):
            record = from_json(AttemptRecord, store.get(one.record.digest), f"record of {one.cell.key}")
            if record.capture is not None and record.capture.workspace is not None:
                kept[one.cell.key] = record.capture.workspace.digest
    return kept


def expected_id(name: str, stem: str) -> str | None:
    """The id that a card must have to be the one asked for; a file elsewhere may have any."""
    return f"sha256:{stem}" if len(stem) == 64 and name != stem else None


def of_run(name: str) -> str | None:
    """The card that a run, or the latest one, led to; None if *name* is no run here.

    Raises:
        UserError: the run has no card yet.
    """
    state = places.state()
    if not state.ledger.exists():
        return None
    with Ledger(state.ledger) as ledger:
        runs = {run.id: run for run in ledger.runs()}
    run = next(reversed(runs.values()), None) if name == "latest" else runs.get(name)
    if run is None:
        return None
    if run.card is None:
        raise UserError(
            f"run {name}", f"has no card: {run.ended} of {run.cells} attempts ended", f"trialbox run --resume {name}"
        )
    return run.card
