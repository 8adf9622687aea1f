"""A card into a bundle: gathered, listed, searched for keys, and written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.engine.connect import connect
from harness.engine.images import build
from harness.engine.images.recipe import Source
from harness.errors import GateError, UserError
from harness.oci.obtain import from_cache, source_of
from harness.oci.write import Blob, Image, write_folder, write_tar
from harness.progress import Progress
from harness.records import ImageRef
from harness.releases import Releases
from harness.secrets import Known, Secret, find_secrets
from harness.state import State
from harness.store import LocalStore
from harness.suites.formats.repo import RepoTask
from harness.suites.kept import without_kept
from harness.suites.task import Suite
from harness.suites.tree import REGULAR, Entry, Tree, read_tree
from harness.untrusted import clean_text
from scoring.bundle import Kind, Material, Packed, Size, pack
from scoring.card import Card
from trialbox import places
from trialbox.cards import load_whole, signature_path
from trialbox.material import candidates, check_card, needed_images, suite_of
from trialbox.settings import providers

_LOCK_FILES = ("recipe.toml", "lock.json", "image.json")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LISTED = 20
"""Places with a key that a refusal names."""


@dataclass(frozen=True)
class Bundled:
    """A bundle that was written."""

    card: Card
    path: Path
    size: int
    """Bytes of the file, or of the folder's files."""
    sizes: tuple[Size, ...]
    left_out: tuple[str, ...]
    """Images that grading needs and that are not in it whole, by name."""


def bundle_card(
    name: str,
    output: str,
    state: State,
    progress: Progress,
    *,
    images: bool,
    suite: str | None,
    reviewed: Sequence[str],
    listed: Callable[[tuple[Size, ...]], None],
) -> Bundled:
    """Write the bundle of a card. *listed* hears the sizes before anything is written.

    *reviewed* are the blobs, by digest, that may hold text in the shape of a key: the bundle's maker looked at them.

    Raises:
        UserError: there is no such card, its suite is not here, the output can't be written, or a reviewed blob is not
            in it or holds nothing to review.
        VerifyError: the card or its evidence is not whole.
        GateError: there is a key in it; each blob and place is named.
        InfraError: an image is neither in the cache nor to be built; the disk failed.
    """
    check_digests(reviewed)
    path, folder = _output(output)
    store = LocalStore(state.blobs)
    card, card_path = load_whole(name, store)
    check_card(card)
    found = suite_of(card, candidates(card, suite, state, fetch=True))
    plan = card.core.plan
    tasks = [found.suite.task(ref.task) for ref in plan.tasks]
    needed = needed_images(plan, tasks)
    whole = _images([ref for ref in needed if ref.locked], progress) if images else ()
    signature = signature_path(card_path)
    material = Material(
        suite=without_kept(read_tree(found.suite.folder)),
        releases=_releases(found.suite),
        locks=_locks(needed),
        needed=needed,
        images=whole,
        signature=signature.read_bytes() if signature.is_file() else None,
        reviewed=tuple(reviewed),
    )
    packed = pack(card, store, material)
    sizes = tuple(packed.sizes())
    listed(sizes)
    refuse_secrets(packed, Known.of(os.environ, _named(state)), reviewed)
    size = (write_folder if folder else write_tar)(path, packed.index, packed.ordered())
    left_out = tuple(ref.name for ref in needed if ref.id not in {image.id for image in whole})
    return Bundled(card, path, size, sizes, left_out)


def check_digests(reviewed: Iterable[str]) -> None:
    """Refuse what was given with ``--reviewed`` and is no digest. Raises :class:`UserError`."""
    for name in reviewed:
        if not _DIGEST.fullmatch(name):
            raise UserError("--reviewed", f"{clean_text(name, 80)!r} is no digest", "give it whole: sha256:, 64 digits")


def refuse_secrets(packed: Packed, known: Known, reviewed: Collection[str] = ()) -> None:
    """Let no bundle go out with a key in it. Images are made of their locks alone, and not searched.

    Text that only has the shape of a key may be a test's, or a model's own words: in the *reviewed* blobs it may stay.
    The value of a key that is known here may not, in any.

    Raises:
        GateError: there is one; all places are named, and what can be done.
        UserError: a reviewed blob is not in the bundle, or holds nothing of that shape.
    """
    held: list[tuple[Blob, Secret]] = []
    shaped: set[str] = set()
    for blob in packed.ordered():
        if packed.kinds[blob.digest] is Kind.IMAGES:
            continue
        for found in find_secrets(_read(blob), known):
            if not found.known:
                shaped.add(blob.digest)
            if found.known or blob.digest not in reviewed:
                held.append((blob, found))
    needless = next((name for name in reviewed if name not in shaped), None)
    if needless is not None:
        problem = f"{needless} is no blob of this bundle with text in the shape of a key"
        raise UserError("--reviewed", problem, "give those that the refusal names")
    if held:
        raise _refusal(packed, held)


def _refusal(packed: Packed, held: Sequence[tuple[Blob, Secret]]) -> GateError:
    """One error that names every place, so that one look at all of them is enough."""
    said = [
        f"blob {blob.digest} ({packed.kinds[blob.digest].value}, {packed.types[blob.digest]}) holds"
        f" {'' if found.known else 'text in the shape of '}{found.what} at line {found.line}, byte {found.offset}"
        for blob, found in held[:_LISTED]
    ]
    said += [f"{len(held) - _LISTED} more"] if len(held) > _LISTED else []
    if any(found.known for _, found in held):
        remedy = "a card with a key in its evidence can't travel: withdraw that key"
    else:
        remedy = (
            "if you looked at a blob and it holds no key, --reviewed DIGEST lets it through, and the bundle says so"
        )
    return GateError("keys", f"{'; '.join(said)}; nothing was written", remedy)


def _read(blob: Blob) -> bytes:
    with blob.opened() as handle:
        return handle.read()


def _named(state: State) -> set[str]:
    """The variables that are known to hold keys."""
    return {one.credential for one in providers(state).values() if one.credential is not None}


def _output(output: str) -> tuple[Path, bool]:
    """Where the bundle goes, and whether it is a folder: one that is there and empty, or a name that ends with a slash.

    Raises:
        UserError: it can't go there.
    """
    path = Path(output).absolute()
    folder = output.endswith("/") or path.is_dir()
    if path.is_dir() and any(path.iterdir()):
        raise UserError("--output", f"{output} is a folder with something in it", "name an empty one, or a file")
    if not folder and path.exists() and not path.is_file():
        raise UserError("--output", f"{output} is no regular file", "name one")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UserError("--output", f"{path.parent} is no folder that can be written", "create it, or name another")
    return path, folder


def _images(refs: list[ImageRef], progress: Progress) -> tuple[Image, ...]:
    """Our images, whole; one that the cache does not have is built.

    Raises:
        UserError: what this trialbox's lock gives is another image than the card's.
    """
    recipes, cache = places.data_folder("images"), places.image_cache()
    found = {ref.name: from_cache(recipes, ref, cache) for ref in refs}
    missing = [ref for ref in refs if found[ref.name] is None]
    if missing:
        with connect(notify=progress.note) as engine:
            for ref in missing:
                build(engine.api, ref.name, cache=cache, images_dir=recipes, report=progress.note, again=False)
                found[ref.name] = from_cache(recipes, ref, cache)
    for ref in missing:
        if found[ref.name] is None:
            problem = f"{ref.id[:19]} is not what its lock here gives"
            raise UserError(f"image {ref.name}", problem, "use the trialbox that made the card, or --without-images")
    return tuple(image for image in found.values() if image is not None)


def _releases(suite: Suite) -> Tree:
    """What the suite's tasks take from public releases."""
    cache, found = Releases(), Tree()
    for task in suite.tasks:
        if isinstance(task.spec, RepoTask) and task.spec.source is not None and task.spec.fix is not None:
            found = found.overlay(cache.kept(task.spec.source, task.spec.fix))
    return found


def _locks(refs: tuple[ImageRef, ...]) -> Tree:
    """Recipes and locks of the images that this trialbox has the card's lock of, and of what they stand on."""
    recipes = places.data_folder("images")
    names: set[str] = set()
    for ref in refs:
        source: Source | None = source_of(recipes, ref.name)
        if source is not None and source.lock_digest == ref.lock:
            while source is not None:
                names.add(source.name)
                source = source.base
    files = (recipes / name / file for name in sorted(names) for file in _LOCK_FILES)
    return Tree(
        Entry(path.relative_to(recipes).as_posix(), REGULAR, path.read_bytes()) for path in files if path.is_file()
    )
