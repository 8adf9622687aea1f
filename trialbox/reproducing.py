"""A card from its hashes: verify, get the images and the suite, grade every stored change again, compare."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.cores import Cores
from harness.errors import StorageError, VerifyError
from harness.evidence import AttemptRecord
from harness.oci.images import read_content
from harness.oci.obtain import Obtained, Sources
from harness.oci.store import Overlay
from harness.oci.trees import lay_out
from harness.preflight import preflight
from harness.progress import Progress
from harness.records import from_json
from harness.regraded import MEMORY, Memory
from harness.regrading import Regrader
from harness.releases import Releases
from harness.scanning import open_scanner
from harness.state import State
from harness.store import LocalStore, Store
from harness.suites.tree import Tree
from scoring.bundle import LOCKS_TYPE, RELEASES_TYPE, SUITE_TYPE
from scoring.card import Card, find_card, read_card
from scoring.evidence import Evidence
from scoring.reproduce import Reproduction
from scoring.unbundle import Bundle, is_bundle, read_bundle
from scoring.verify import verify_card
from trialbox import places
from trialbox.cards import expected_id, not_whole
from trialbox.material import Candidate, candidates, check_card, needed_images, suite_of
from trialbox.opening import opened, prepared
from trialbox.regrading import Asked, Work

_SCRATCH = "reproduce-"
_AT_ONCE = 4


@dataclass(frozen=True)
class Reproduced:
    """What came of it, and what it was done with."""

    result: Reproduction
    suite: str
    """Where the suite was from."""
    images: tuple[Obtained, ...]
    blobs: int
    """Blobs of evidence that were found whole."""


@dataclass(frozen=True)
class Opened:
    """A card and its evidence, checked, and the bundle that they are in, if they are in one."""

    card: Card
    evidence: Evidence
    store: Store
    blobs: int
    bundle: Bundle | None = None
    trees: Mapping[str, Tree] = field(default_factory=dict)


def reproduce(name: str, asked: Asked, state: State, progress: Progress) -> Reproduced:
    """Reproduce a card of this state folder, a card file, or a bundle.

    Raises:
        UserError: there is no such card; the bundle is none; its suite or an image is nowhere to be had.
        VerifyError: the card, its evidence or an image is not what its digest says.
        TrialboxError: the engine, the disk or the seal failed.
    """
    asked.check()
    source = read(name, state)
    with prepared(state) as ledger, _scratch(state) as scratch:
        found = suite_of(source.card, _candidates(source, asked, state, scratch))
        plan = source.card.core.plan
        tasks = {ref.task: found.suite.task(ref.task) for ref in plan.tasks}
        with opened(state, progress) as engine:
            sources = Sources(
                engine=engine,
                layout=source.bundle.layout if source.bundle else None,
                manifests=source.bundle.images if source.bundle else {},
                recipes=[places.data_folder("images"), *_locks(source, scratch)],
                cache=places.image_cache(),
                scratch=scratch,
                report=progress.note,
            )
            images = tuple(sources.obtain(ref) for ref in needed_images(plan, tasks.values()))
            handles = {one.image.ref.name: one.image for one in images}
            preflight(engine, handles["base"].handle, state.owner)
            store = Overlay(LocalStore(scratch / "blobs"), source.store)
            regrader = Regrader(
                engine=engine,
                images=handles,
                store=store,
                cores=Cores(range(engine.info.cpus)),
                owner=state.owner,
                scanner=open_scanner(engine, handles["scanner"], LocalStore(state.blobs), ledger, state.owner),
            )
            work = Work(
                card=source.card,
                evidence=source.evidence,
                tasks=tasks,
                images=images,
                regrader=regrader,
                memory=Memory(state.cache / MEMORY),
                asked=asked,
                at_once=asked.concurrency or min(engine.info.cpus, _AT_ONCE),
                progress=progress,
            )
            return Reproduced(work.result(), found.origin, images, source.blobs)


def read(name: str, state: State) -> Opened:
    """Everything of a card or bundle that can be checked before anything is written or run.

    Raises:
        UserError, VerifyError, InfraError: as :func:`reproduce`.
    """
    path = Path(name)
    if is_bundle(path):
        bundle = read_bundle(path)
        data, store, where, wanted = bundle.card_bytes, bundle.store, bundle.layout.where, None
    else:
        bundle, path = None, find_card(state.cards, name)
        data, store, where = read_card(path), LocalStore(state.blobs), f"card {name}"
        wanted = expected_id(name, path.stem)
    result = verify_card(data, store, wanted)
    if result.card is None or not result.ok:
        raise not_whole(where, result)
    check_card(result.card)
    trees: dict[str, Tree] = {}
    if bundle is not None:
        trees = {kind: bundle.tree(kind) for kind in (SUITE_TYPE, RELEASES_TYPE, LOCKS_TYPE)}
        for identity, manifest in bundle.images.items():
            place = f"{where}: image {identity[:19]}"
            if read_content(bundle.layout, manifest, place).id != identity:
                raise VerifyError(place, "is another image than it says", "get the bundle again")
    return Opened(result.card, _evidence(result.card, store), store, result.blobs, bundle, trees)


def _evidence(card: Card, store: Store) -> Evidence:
    """The card's evidence as far as its core needs it: settled energies and money are no part of that."""
    records = {
        one.record.digest: from_json(AttemptRecord, store.get(one.record.digest), f"record of {one.cell.key}")
        for one in card.stamp.evidence
        if one.record is not None
    }
    return Evidence(card.core.plan, card.stamp.evidence, records, statistics=card.core.statistics)


@contextmanager
def _scratch(state: State) -> Iterator[Path]:
    """A folder for the length of one command; what a killed one left goes first. The state folder is ours alone."""
    for left in state.cache.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=state.cache))
    except OSError as error:
        raise StorageError(str(state.cache), error.strerror or str(error), "free some space") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _candidates(source: Opened, asked: Asked, state: State, scratch: Path) -> Iterator[Candidate]:
    bundled = bool(source.trees.get(SUITE_TYPE))
    yield from candidates(source.card, asked.suite, state, fetch=not bundled)
    if bundled and asked.suite is None:
        suite = scratch / "tasks" / source.card.core.plan.suite.name
        lay_out(source.trees[SUITE_TYPE], suite)
        lay_out(source.trees[RELEASES_TYPE], scratch / "releases")
        yield Candidate("bundle", suite, Releases(root=scratch / "releases"))


def _locks(source: Opened, scratch: Path) -> list[Path]:
    tree = source.trees.get(LOCKS_TYPE)
    if not tree:
        return []
    lay_out(tree, scratch / "images")
    return [scratch / "images"]
