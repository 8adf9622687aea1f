"""What a state folder can do without: everything that no run in its ledger and no card of its needs; and the user's
image cache: archives that neither these nor the locks name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness import bundles
from harness.engine.connect import connect
from harness.engine.images import tidy
from harness.engine.owned import reap
from harness.errors import InfraError, VerifyError
from harness.evidence import AttemptRecord
from harness.files import storage_error
from harness.ledger import Ledger
from harness.program import Program
from harness.records import BlobRef, from_json
from harness.references import attempt_blobs, blob_refs
from harness.regraded import MEMORY, Memory
from harness.state import State
from harness.store import LocalStore, Store
from scoring.card import card_ids, card_path, read_card
from scoring.verify import verify_bytes


@dataclass(frozen=True)
class Freed:
    """What was removed. ``engine_objects`` is None where no engine answered."""

    blobs: int
    files: int
    cached: int
    bytes: int
    images: int
    """Files of the user's image cache, which is not part of the state folder; their bytes are counted apart."""
    image_bytes: int
    engine_objects: int | None
    kept: tuple[str, ...]
    """Why nothing more could be removed, if so."""


def clean(state: State, image_cache: Path, images_dir: Path, programs: Collection[Program] = ()) -> Freed:
    """Clean a state folder that nobody else is using.

    Half-written files go first: on a full disk the ledger may not even open before that.

    Raises:
        UserError: another command is using it.
        InfraError: its ledger is damaged; no blob was removed then.
    """
    with state.locked():
        files, freed = _unlink(list(_temporary(state.root)))
        store = LocalStore(state.blobs)
        problems: list[str] = []
        needed: set[str] = set()
        images: set[str] = set()
        cached = Memory(state.cache / MEMORY).forget()
        if state.ledger.exists():
            with Ledger(state.ledger) as ledger:
                cached += ledger.forget()
                for run in ledger.runs():
                    images |= {image.id for image in run.plan.images}
                    records = [one.record for one in ledger.tries(run.id) if one.record]
                    needed |= _needed(store, records, problems)
        for identity in card_ids(state.cards):
            card, faults = verify_bytes(read_card(card_path(state.cards, identity)), identity)
            if card is None or faults:
                problems.append(f"all blobs, since card {identity} can't be read ({faults[0]})")
                continue
            images |= {image.id for image in card.core.plan.images}
            needed |= _needed(store, [one.record for one in card.stamp.evidence if one.record], problems)
            needed |= {card.stamp.prices.table.digest} if card.stamp.prices else set()
            needed |= {blob.digest for _, blob in blob_refs(card.stamp.audit)}
        stray = [] if problems else [name for name in store.digests() if name not in needed]
        freed += sum(store.delete(name) for name in stray)
        tidied = (0, 0) if problems else tidy(image_cache, images_dir, images, programs)
        unused = (0, 0) if problems or tidied is None else bundles.tidy(image_cache, images_dir)
        if tidied is None or unused is None:
            problems.append("the image cache, since images are being built")
        gone = [sum(pair) for pair in zip(tidied or (0, 0), unused or (0, 0), strict=True)]
        return Freed(len(stray), files, cached, freed, gone[0], gone[1], _reap(state), tuple(problems))


def _needed(store: Store, records: list[BlobRef], problems: list[str]) -> set[str]:
    """Every blob behind these records. One that can't be read may need any, so then nothing is removed."""
    needed: set[str] = set()
    for ref in records:
        needed.add(ref.digest)
        try:
            record = from_json(AttemptRecord, store.get(ref.digest), f"blob {ref.digest}")
            needed.update(blob.digest for _, blob in attempt_blobs(store, record))
        except VerifyError as error:
            problems.append(f"all blobs, since {error.where} {error.problem}")
    return needed


def _temporary(root: Path) -> Iterator[Path]:
    """Files that a killed writer left; the lock says that no writer is alive."""
    for path in root.rglob(".*.tmp"):
        if path.is_file() and not path.is_symlink():
            yield path


def _unlink(paths: list[Path]) -> tuple[int, int]:
    freed = 0
    for path in paths:
        try:
            freed += path.stat().st_size
            path.unlink()
        except OSError as error:
            raise storage_error(path, error) from error
    return len(paths), freed


def _reap(state: State) -> int | None:
    with suppress(InfraError), connect(start=False) as engine:
        return reap(engine, state.owner)
    return None
