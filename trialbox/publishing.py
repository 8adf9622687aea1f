"""Publishing a card: verified with all its evidence, past the gate, into the index that only grows."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from harness.errors import GateError, InfraError, StorageError, UserError, VerifyError
from harness.files import atomic_write
from harness.ledger import Ledger
from harness.state import State
from harness.store import LocalStore
from scoring.card import Card, card_path, find_card, read_card, remedy_of, write_card
from scoring.publish import Entry, Index, blocks, hold_to, read_index, with_card
from scoring.verify import verify_card
from trialbox.cards import expected_id

INDEX = "index.json"


@dataclass(frozen=True)
class Published:
    """A card's entry in the index. ``new`` is False where it was there before."""

    entry: Entry
    new: bool
    path: Path


def index_of(state: State) -> Index:
    """The index of a state folder, held against its ledger.

    Raises:
        VerifyError: it was changed, or cut.
        InfraError: it can't be read.
    """
    path = state.cards / INDEX
    try:
        index = read_index(path.read_bytes(), str(path)) if path.exists() else Index()
    except OSError as error:
        raise InfraError(str(path), f"can't be read ({error.strerror})", "check the path") from error
    if state.ledger.exists() and state.ledger.stat().st_size:
        with Ledger(state.ledger, reading=not os.access(state.ledger, os.W_OK)) as ledger:
            hold_to(index, ledger.published(), str(path))
    return index


def publish(name: str, state: State) -> Published:
    """Publish a card.

    Raises:
        UserError: there is no such card, or the clock stands before the last entry.
        VerifyError: the card or its evidence is not what it says.
        StorageError: the index is damaged.
        GateError: the card may not be published; every reason is in it.
    """
    with state.locked():
        state.prepare()
        index = _sound_index(state)
        card = _whole(name, state)
        entry = index.entry_of(card.id)
        if entry is not None:
            return Published(entry, new=False, path=state.cards / INDEX)
        reasons = blocks(card)
        if reasons:
            raise GateError(f"card {card.id}", f"can't be published: {'; '.join(reasons)}", "nothing was published")
        now_us = time.time_ns() // 1000
        if index.entries and now_us < index.entries[-1].at_us:
            raise UserError("the clock", "stands before the last published entry", "set it right, and publish again")
        return _append(with_card(index, card, now_us), card, state)


def _sound_index(state: State) -> Index:
    try:
        return index_of(state)
    except VerifyError as error:  # the state folder's damage, not the card's
        raise StorageError(error.where, error.problem, error.remedy) from error


def _whole(name: str, state: State) -> Card:
    path = find_card(state.cards, name)
    found = verify_card(read_card(path), LocalStore(state.blobs), expected_id(name, path.stem))
    if found.card is None or found.problems:
        raise VerifyError(f"card {name}", found.problems[0], remedy_of(found.problems[0], name))
    return found.card


def _append(index: Index, card: Card, state: State) -> Published:
    """The index first: what the ledger then lacks, were it cut off here, it learns at the next publication."""
    if not card_path(state.cards, card.id).exists():
        write_card(state.cards, card)
    atomic_write(state.cards / INDEX, index.to_bytes())
    with Ledger(state.ledger) as ledger:
        known = ledger.published()
        for entry in index.entries:
            if entry.seq not in known:
                ledger.set_published(entry.seq, entry.card, entry.digest)
    return Published(index.entries[-1], new=True, path=state.cards / INDEX)
