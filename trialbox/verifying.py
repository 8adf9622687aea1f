"""How a card is verified: wholly, or as a large one in pieces by several processes, in bounded time and memory."""

from __future__ import annotations

import gc
import mmap
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import InfraError, VerifyError
from harness.store import LocalStore, Store
from scoring.card import Card, read_card
from scoring.cardfile import CardFile, Piece, open_card
from scoring.verify import Depth, Verification, verify_bytes, verify_card
from scoring.wholeness import Checker, Found, verify_whole

if TYPE_CHECKING:
    from harness.records import Plan

DERIVED_UP_TO = 2_000
"""Planned attempts up to which everything is worked out again, if nobody says how deep to look: some seconds."""
MOST_PROCESSES = 8
_checker: Checker | None = None


def verify_path(path: Path, store: LocalStore, expected_id: str | None, depth: Depth | None) -> Verification:
    """Verify a card file.

    Args:
        path: the file.
        store: where its evidence is.
        expected_id: the id that it was asked for by, if any.
        depth: how deep; None: by the number of its attempts.

    Raises:
        InfraError: the card or the store can't be read.
    """
    if depth is Depth.DERIVED:
        return verify_derived(read_card(path), store, expected_id)
    try:
        file = open_card(path, expected_id)
    except VerifyError:
        return _damaged(path, store, expected_id, depth)
    if depth is None and attempts(file.shell) <= DERIVED_UP_TO:
        return verify_derived(read_card(path), store, expected_id)
    count = min(_cores(), MOST_PROCESSES)
    found = verify_whole(file, store, lambda pieces: _spread(path, file, store, pieces, count), 4 * count)
    return _damaged(path, store, expected_id, depth) if found is None else found


def verify_derived(data: bytes, store: Store, expected_id: str | None = None) -> Verification:
    """:func:`scoring.verify.verify_card`, a third faster: what it makes holds no cycles, so none are looked for."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return verify_card(data, store, expected_id)
    finally:
        if collecting:
            gc.enable()


def attempts(card: Card) -> int:
    """How many were planned."""
    plan = card.core.plan
    return plan.attempts * len(plan.tasks) * len(plan.solvers)


def _damaged(path: Path, store: LocalStore, expected_id: str | None, depth: Depth | None) -> Verification:
    """A card that is not as it should be, read whole to name what is wrong: takes longer and more memory."""
    data = read_card(path)
    card, problems = verify_bytes(data, expected_id)
    if problems and (card is None or depth is Depth.BYTES or attempts(card) > DERIVED_UP_TO):
        return Verification(card, tuple(problems), 0, Depth.BYTES)
    return verify_derived(data, store, expected_id)


def _spread(path: Path, file: CardFile, store: LocalStore, pieces: Sequence[Piece], count: int) -> Iterator[Found]:
    """What each piece comes to, in their order, from *count* processes."""
    if count == 1:
        yield from map(_open(path, file.shell.core.plan, store).check, pieces)
        return
    # A child of Linux starts with what is imported here; elsewhere a fork is not safe.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(count, context, _begin, (path, file.shell.core.plan, store)) as pool:
        try:
            yield from pool.map(_check, pieces)
        except BrokenProcessPool as error:
            raise InfraError("verify", "a process of it was killed", "free some memory, and repeat it") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _open(path: Path, plan: Plan, store: LocalStore) -> Checker:
    with path.open("rb") as handle:
        return Checker(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ), plan, store)


def _begin(path: Path, plan: Plan, store: LocalStore) -> None:
    """In each process, once before its pieces."""
    global _checker  # noqa: PLW0603 - a pool's processes have nothing else to keep it in
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is the parent's to tell of
    gc.disable()  # nothing here makes cycles, and looking for them takes a tenth of the time
    _checker = _open(path, plan, store)


def _check(piece: Piece) -> Found:
    if _checker is None:
        raise RuntimeError("no process begins with a piece")
    return _checker.check(piece)
