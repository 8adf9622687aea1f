"""From what a user typed to a card that is at least itself: its bytes and its digests agree."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import UserError, VerifyError
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.records import from_json
from harness.store import LocalStore, Store
from scoring.card import Card, find_card, read_card, remedy_of
from scoring.cardfile import CardFile, open_card
from scoring.verify import Verification, verify_bytes, verify_card
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
        raise VerifyError(f"card {name}", problems[0], remedy_of(problems[0], name))
    return card


def load_file(name: str) -> CardFile:
    """The same, with its lists left where they are: a card of any size.

    Raises:
        UserError: there is none.
        VerifyError: its bytes were changed.
    """
    path = find_card(places.state().cards, name)
    try:
        return open_card(path, expected_id(name, path.stem))
    except VerifyError:
        load(name)  # takes longer, and names what was changed
        raise


def load_whole(name: str, store: Store) -> tuple[Card, Path]:
    """The card of that name and its file, if it and all its evidence are whole.

    Raises:
        UserError: there is none.
        VerifyError: something of it was changed or is missing.
    """
    path = find_card(places.state().cards, name)
    result = verify_card(read_card(path), store, expected_id(name, path.stem))
    if result.card is None or not result.ok:
        raise not_whole(f"card {name}", result)
    return result.card, path


def not_whole(where: str, result: Verification) -> VerifyError:
    """The first thing that is wrong, and how much more there is."""
    more = f" (and {len(result.problems) - 1} more)" if len(result.problems) > 1 else ""
    return VerifyError(where, f"{result.problems[0]}{more}", remedy_of(result.problems[0]))


def signature_path(card: Path) -> Path:
    """Where the signature of a card file is kept: beside it."""
    return card.with_name(f"{card.stem}.dsse.json")


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
    if not state.ledger.exists() or not state.ledger.stat().st_size:
        return None
    with Ledger(state.ledger, reading=not os.access(state.ledger, os.W_OK)) as ledger:
        runs = {run.id: run for run in ledger.runs()}
    run = next(reversed(runs.values()), None) if name == "latest" else runs.get(name)
    if run is None:
        return None
    if run.card is None:
        remedy = f"`trialbox run --resume {name}` goes on, if no trialbox is at it still"
        raise UserError(f"run {name}", f"has no card: {run.ended} of {run.cells} attempts ended", remedy)
    return run.card
