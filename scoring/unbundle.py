"""Reading a bundle that anybody may have made: everything is checked where it lies, and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.digest import loads
from harness.errors import UserError, VerifyError
from harness.oci.layout import Layout, open_layout
from harness.oci.records import ID_ANNOTATION, INDEX_FILE, INDEX_TYPE, Descriptor, Index, Manifest, read_document
from harness.oci.store import LayoutStore
from harness.oci.trees import read_tree_blob
from harness.records import from_json
from harness.store import Store
from harness.suites.tree import Tree
from harness.untrusted import clean_text
from scoring.bundle import BUNDLE_TYPE, CARD_TYPE, EVIDENCE_TYPE, SIGNATURE_TYPE, BundleConfig, evidence_of
from scoring.card import Card
from scoring.verify import verify_bytes

_AGAIN = "get the bundle again"
_INDEX_KEYS = {"schemaVersion", "mediaType", "manifests", "digest", "size", "annotations", "artifactType"}


@dataclass(frozen=True)
class Bundle:
    """A bundle that was read: every blob is what its name says, and is named once from the card or the images."""

    layout: Layout
    card: Card
    card_bytes: bytes
    config: BundleConfig
    layers: Mapping[str, Descriptor]
    """Of the card's manifest, by media type."""
    images: Mapping[str, Manifest]
    """Those that are whole, by our id, which their content must still give."""

    @property
    def store(self) -> Store:
        """Its evidence."""
        return LayoutStore(self.layout)

    @property
    def signature(self) -> bytes | None:
        """The card's signature, if there is one."""
        found = self.layers.get(SIGNATURE_TYPE)
        return None if found is None else self.layout.read(found.digest)

    def tree(self, media_type: str) -> Tree:
        """One of the trees; an empty one where there is none. Raises as :func:`read_tree_blob`."""
        found = self.layers.get(media_type)
        what = media_type.split(".")[2]
        return Tree() if found is None else read_tree_blob(self.layout, found.digest, what)


def is_bundle(path: Path) -> bool:
    """Whether a path names a bundle and no card: a folder, or a file that is not called ``.json``."""
    return path.is_dir() or (path.is_file() and path.suffix != ".json")


def read_bundle(path: Path) -> Bundle:
    """Read a bundle that anybody may have made. Nothing is written.

    Raises:
        UserError: it is none, or holds what none may hold.
        VerifyError: a blob or the card is not what its digest says.
        InfraError: it can't be read.
    """
    layout = open_layout(path)
    layout.check()
    top = _top(layout)
    named = {top.digest}
    index = read_document(Index, _whole(layout, top), f"{layout.where}: blob {top.digest}")
    manifests = [(_whole_manifest(layout, one), one.digest) for one in index.manifests]
    for manifest, digest in manifests:
        named |= {digest, *(one.digest for one in (manifest.config, *manifest.layers))}
        for one in (manifest.config, *manifest.layers):
            _sized(layout, one)
    mains = [manifest for manifest, _ in manifests if manifest.artifact_type == BUNDLE_TYPE]
    if len(mains) != 1:
        raise UserError(layout.where, f"holds {len(mains)} cards, not one", "`trialbox card bundle` makes one")
    _refuse_strangers(layout, named)
    bundle = _read_main(layout, mains[0], [manifest for manifest, _ in manifests])
    evidence = [one for manifest, _ in manifests if manifest.artifact_type == EVIDENCE_TYPE for one in manifest.layers]
    _refuse_foreign(bundle, evidence)
    return bundle


def _top(layout: Layout) -> Descriptor:
    """The one artifact. No digest holds the index file, so it may say nothing but where that is, and its tag."""
    where, data = f"{layout.where}: {INDEX_FILE}", layout.document(INDEX_FILE)
    listed = read_document(Index, data, where).manifests
    if len(listed) != 1 or listed[0].media_type != INDEX_TYPE:
        raise UserError(where, f"names {len(listed)} artifacts, or none that is a bundle", _AGAIN)
    if listed[0].artifact_type not in {None, BUNDLE_TYPE}:
        raise UserError(where, f"names an artifact of another kind, {listed[0].artifact_type}", _AGAIN)
    value = loads(data)
    unknown = sorted((value.keys() | value["manifests"][0].keys()) - _INDEX_KEYS)
    if unknown:
        raise UserError(where, f"has an unknown key {clean_text(unknown[0], 60)!r}", _AGAIN)
    return listed[0]


def _read_main(layout: Layout, main: Manifest, manifests: Sequence[Manifest]) -> Bundle:
    layers: dict[str, Descriptor] = {}
    for one in main.layers:
        if one.media_type in layers:
            raise UserError(layout.where, f"holds two layers of type {one.media_type}", _AGAIN)
        layers[one.media_type] = one
    if CARD_TYPE not in layers:
        raise UserError(layout.where, "holds no card", "`trialbox card bundle` makes one that does")
    data = layout.read(layers[CARD_TYPE].digest)
    card, problems = verify_bytes(data)
    if card is None or problems:
        raise VerifyError(f"{layout.where}: its card", problems[0], _AGAIN)
    config = from_json(BundleConfig, layout.read(main.config.digest), f"{layout.where}: config")
    if (config.card, config.core_digest, config.suite) != (card.id, card.core_digest, card.core.plan.suite):
        raise VerifyError(f"{layout.where}: config", f"is of card {config.card}, the card is {card.id}", _AGAIN)
    stranger = next((name for name in config.reviewed if name not in layout.digests()), None)
    if stranger is not None:
        raise UserError(
            f"{layout.where}: config", f"says that blob {stranger} was looked at, which is not in it", _AGAIN
        )
    return Bundle(layout, card, data, config, layers, dict(_images(layout, card, manifests)))


def _images(layout: Layout, card: Card, manifests: Iterable[Manifest]) -> Iterator[tuple[str, Manifest]]:
    known = {ref.id for ref in card.core.plan.images}
    for manifest in manifests:
        if manifest.artifact_type is None:
            said = (manifest.annotations or {}).get(ID_ANNOTATION, "none")
            if said not in known:
                raise UserError(
                    layout.where, f"holds image {clean_text(said, 80)}, which its card does not name", _AGAIN
                )
            yield said, manifest


def _whole(layout: Layout, one: Descriptor) -> bytes:
    _sized(layout, one)
    return layout.read(one.digest)


def _whole_manifest(layout: Layout, one: Descriptor) -> Manifest:
    _sized(layout, one)
    manifest = read_document(Manifest, layout.read(one.digest), f"{layout.where}: blob {one.digest}")
    if manifest.artifact_type not in {None, BUNDLE_TYPE, EVIDENCE_TYPE}:
        raise UserError(layout.where, f"holds an artifact of another kind, {manifest.artifact_type}", _AGAIN)
    return manifest


def _sized(layout: Layout, one: Descriptor) -> None:
    size = layout.size(one.digest)
    if size != one.size:
        raise VerifyError(f"blob {one.digest}", f"has {size} bytes, {one.size} are stated", _AGAIN)


def _refuse_strangers(layout: Layout, named: set[str]) -> None:
    stranger = next((name for name in layout.digests() if name not in named), None)
    if stranger is not None:
        raise UserError(layout.where, f"holds blob {stranger}, which nothing in it names", _AGAIN)


def _refuse_foreign(bundle: Bundle, evidence: Iterable[Descriptor]) -> None:
    """Evidence that the card names, and no other; what is missing or damaged is found by verifying the card."""
    try:
        wanted = evidence_of(bundle.card, bundle.store)
    except VerifyError:
        return
    stranger = next((one.digest for one in evidence if one.digest not in wanted), None)
    if stranger is not None:
        raise UserError(bundle.layout.where, f"holds evidence that its card does not name, blob {stranger}", _AGAIN)
