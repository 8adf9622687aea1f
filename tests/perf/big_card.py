"""A made-up run of many attempts: its card, and if wanted every record and blob that the card rests on.

What is measured on it is speed, so it is as varied as a card must be and no more: solvers of different strength, tasks
of different difficulty, each record different, while most blobs are shared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.evidence import AttemptRecord
from harness.ledger import TryState
from harness.outcomes import Outcome
from harness.records import BlobRef, Plan, to_json
from harness.store import LocalStore
from scoring.card import Card, make_card, write_card
from scoring.evidence import Evidence, TryEvidence
from tests.card_rig import MADE, Attempt, make_record
from tests.plans import plan

RECORD_TYPE = "application/vnd.trialbox.attempt+json"


@dataclass(frozen=True)
class Big:
    """A big card: its file, and the store that holds its evidence."""

    card: Card
    path: Path
    store: LocalStore


class _Unkept(LocalStore):
    """A store that gives references and keeps nothing."""

    def put(self, data: bytes, media_type: str) -> BlobRef:
        from harness.digest import sha256_bytes

        return BlobRef(digest=sha256_bytes(data), size=len(data), media_type=media_type)


class _Unsynced(LocalStore):
    """A store that does not wait for the disk, and writes what it has already written no second time."""

    def put(self, data: bytes, media_type: str) -> BlobRef:
        from harness.digest import sha256_bytes

        digest = sha256_bytes(data)
        path = self._path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return BlobRef(digest=digest, size=len(data), media_type=media_type)


def big_card(
    folder: Path, *, attempts: int = 100_000, solvers: int = 10, tasks: int = 100, seed: int = 0, kept: bool = True
) -> Big:
    """Make it in ``folder/cards`` and ``folder/blobs``.

    Args:
        folder: where to.
        attempts: planned cells in all; a multiple of solvers x tasks.
        solvers: how many of them.
        tasks: how many of them.
        seed: of the outcomes; the same seed gives the same core. Another one is a second card to compare with.
        kept: whether records and blobs are written (needed to verify, not to report or compare).
    """
    of = plan(solvers, tasks, attempts // (solvers * tasks))
    store = _Unsynced(folder / "blobs") if kept else _Unkept(folder / "blobs")
    evidence = Evidence(of, *_tries(of, store, random.Random(seed)))
    card = make_card(evidence, MADE)
    return Big(card, write_card(folder / "cards", card), store)


def _tries(
    of: Plan, store: LocalStore, drawn: random.Random
) -> tuple[tuple[TryEvidence, ...], dict[str, AttemptRecord]]:
    strength = {solver.name: 0.25 + 0.5 * n / len(of.solvers) for n, solver in enumerate(of.solvers)}
    ease = {task.task: drawn.uniform(-0.25, 0.25) for task in of.tasks}
    patterns = list(_patterns(of, store))
    refs = {task.task: task for task in of.tasks}
    lines, records = [], {}
    for cell in of.cells():
        won = drawn.random() < strength[cell.solver] + ease[cell.task]
        pattern = patterns[0] if won else drawn.choice(patterns[1:])
        record = pattern.model_copy(update={"cell": cell, "task": refs[cell.task]})
        blob = store.put(to_json(record), RECORD_TYPE)
        lines.append(
            TryEvidence(cell=cell, attempt_try=1, state=TryState.ENDED, started_us=10, ended_us=20, record=blob)
        )
        records[blob.digest] = record
    return tuple(lines), records


def _patterns(of: Plan, store: LocalStore) -> Iterator[AttemptRecord]:
    """How an attempt may go: solved first, then the ways of not solving."""
    for attempt in (
        Attempt(),
        Attempt(Outcome.PARTIAL, (True, False), joules=7),
        Attempt(Outcome.FAILED, (False, False), joules=4, seconds=2),
        Attempt(Outcome.TIMEOUT, (False, True), kind="wall", joules=40, seconds=30),
        Attempt(Outcome.INFRA, None, kind="host"),
    ):
        yield make_record(store, of, of.cells()[0], 1, attempt)
