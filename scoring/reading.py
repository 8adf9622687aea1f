"""A card's board from its file, however many attempts the card has: its lists are walked over and never held."""

from __future__ import annotations

import itertools
from pathlib import Path

from harness.errors import VerifyError
from scoring.board import Board, EnergyClass, board_of, cell_of, energy_of, gathered
from scoring.card import read_card, remedy_of
from scoring.cardfile import CardFile, open_card
from scoring.verify import verify_bytes

_LOOKED_AT = 10_000
"""Measured cells that are looked at for each solver's kind of energy."""


def read_board(path: Path, name: str, expected_id: str | None = None) -> Board:
    """The board of a card file.

    What is not as it should be, however little, is read again by :func:`scoring.verify.verify_bytes`, which takes
    longer and names it.

    Args:
        path: the file.
        name: what to call it.
        expected_id: the id that it was asked for by, if any.

    Raises:
        InfraError: it can't be read.
        VerifyError: it is no card, was changed, or is another one.
    """
    try:
        return _board(open_card(path, expected_id))
    except (VerifyError, KeyError, TypeError, ValueError):
        card, problems = verify_bytes(read_card(path), expected_id)
        if card is None or problems:
            raise VerifyError(f"card {name}", problems[0], remedy_of(problems[0], name)) from None
        return board_of(card)


def _board(file: CardFile) -> Board:
    card = file.shell
    energy: dict[str, EnergyClass] = {}
    for one in itertools.islice(file.values("measured"), _LOOKED_AT):
        solver, known = energy_of(one)
        if known is not None:
            energy.setdefault(solver, known)
    return Board(
        id=card.id,
        core_digest=card.core_digest,
        plan=card.core.plan,
        cells=gathered(card.core.plan, (cell_of(one) for one in file.values("core"))),
        solvers=card.measured.solvers,
        energy=energy,
        run=card.stamp.run,
        harness=card.stamp.harness,
        host=card.stamp.host,
        engine=card.stamp.engine,
        prices=card.stamp.prices,
    )
