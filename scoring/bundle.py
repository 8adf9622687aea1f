"""A card with everything that reproducing it needs, as one OCI artifact: what goes in, and where.

One index leads to the card's manifest, to its evidence and to the images, so that whatever copies an index with what it
names carries it all. ``docs/reproduce.md`` has the form.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from io import BytesIO
from typing import IO, Literal

from harness.digest import Digest
from harness.evidence import AttemptRecord
from harness.oci.records import (
    EMPTY,
    EMPTY_TYPE,
    INDEX_TYPE,
    MANIFEST_TYPE,
    REF_NAME,
    TITLE,
    Descriptor,
    Index,
    Manifest,
)
from harness.oci.trees import pack_tree
from harness.oci.write import Blob, Image, blob_of
from harness.records import BlobRef, Grown, ImageRef, Record, SuiteRef, from_json, to_json
from harness.references import attempt_blobs, blob_refs
from harness.store import Store
from harness.suites.tree import Tree
from scoring.card import Card

BUNDLE_TYPE = "application/vnd.trialbox.bundle.v1"
EVIDENCE_TYPE = "application/vnd.trialbox.evidence.v1"
CONFIG_TYPE = "application/vnd.trialbox.bundle.config.v1+json"
CARD_TYPE = "application/vnd.trialbox.card.v1+json"
SIGNATURE_TYPE = "application/vnd.dsse.envelope.v1+json"
SUITE_TYPE = "application/vnd.trialbox.suite.v1.tar"
RELEASES_TYPE = "application/vnd.trialbox.releases.v1.tar"
LOCKS_TYPE = "application/vnd.trialbox.locks.v1.tar"

_LAYERS_AT_MOST = 4000
"""Blobs of evidence in one manifest: registries take manifests up to 4 MiB."""


class Kind(StrEnum):
    """What a bundle's bytes are for."""

    CARD = "card"
    EVIDENCE = "evidence"
    TASKS = "tasks"
    RELEASES = "releases"
    LOCKS = "locks"
    IMAGES = "images"
    DOCUMENTS = "documents"


@dataclass(frozen=True)
class Size:
    """How much of a kind there is: distinct blobs, and their bytes."""

    kind: Kind
    blobs: int
    bytes: int


class BundledImage(Record):
    """An image of the card's plan that grading needs; ``whole`` says that it is in the bundle."""

    image: ImageRef
    whole: bool


class BundleConfig(Grown):
    """What a bundle says of itself."""

    later = frozenset({"reviewed"})

    schema_version: Literal[1] = 1
    card: Digest
    core_digest: Digest
    suite: SuiteRef
    images: tuple[BundledImage, ...]
    reviewed: tuple[Digest, ...] = ()
    """Blobs that hold text in the shape of a key, which whoever made the bundle looked at and let through."""


@dataclass(frozen=True)
class Material:
    """What goes in beside the card and its evidence.

    ``suite`` is the suite's whole folder, ``releases`` what its tasks take from public releases (laid out as the user's
    cache), ``locks`` the recipes and locks of the images; ``images`` the images that go in whole, of the ``needed``;
    ``reviewed`` the blobs that may hold text in the shape of a key.
    """

    suite: Tree
    releases: Tree
    locks: Tree
    needed: tuple[ImageRef, ...]
    images: tuple[Image, ...] = ()
    signature: bytes | None = None
    reviewed: tuple[Digest, ...] = ()


@dataclass
class Packed:
    """A bundle as it will be written: the index file, the blobs in order, and the sizes by kind."""

    index: bytes = b""
    blobs: dict[str, Blob] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    """Media types by digest."""

    def add(self, kind: Kind, blob: Blob, media_type: str, **annotations: str) -> Descriptor:
        """Put a blob in, once, and give its descriptor."""
        if blob.digest not in self.blobs:
            self.blobs[blob.digest], self.kinds[blob.digest], self.types[blob.digest] = blob, kind, media_type
        return Descriptor(
            media_type=media_type, digest=blob.digest, size=blob.size, annotations=dict(annotations) or None
        )

    def sizes(self) -> list[Size]:
        """By kind, in a fixed order; a kind without blobs is left out."""
        rows = []
        for kind in Kind:
            sizes = [blob.size for name, blob in self.blobs.items() if self.kinds[name] is kind]
            if sizes:
                rows.append(Size(kind, len(sizes), sum(sizes)))
        return rows

    def ordered(self) -> list[Blob]:
        """Documents first, then by digest."""
        return sorted(
            self.blobs.values(), key=lambda blob: (self.kinds[blob.digest] is not Kind.DOCUMENTS, blob.digest)
        )


def evidence_of(card: Card, store: Store) -> dict[str, BlobRef]:
    """Every blob that a card rests on, by digest, in the order in which they are named first.

    Raises:
        VerifyError: a record, a manifest or a trace is missing or changed.
    """
    found: dict[str, BlobRef] = {ref.digest: ref for _, ref in blob_refs(card)}
    for one in card.stamp.evidence:
        if one.record is not None:
            where = f"record of {one.cell.key} try {one.attempt_try}"
            record = from_json(AttemptRecord, store.get(one.record.digest), where)
            for _, ref in attempt_blobs(store, record):
                found.setdefault(ref.digest, ref)
    return found


def pack(card: Card, store: Store, material: Material) -> Packed:
    """Everything in its place. The same card and material give the same bytes.

    Raises:
        VerifyError: a blob of the evidence or a layer of an image is missing.
    """
    packed = Packed()
    bottom = packed.add(Kind.DOCUMENTS, blob_of(EMPTY), EMPTY_TYPE)
    manifests = [_documents(packed, _main(packed, card, material))]
    evidence = list(evidence_of(card, store).values())
    for start in range(0, len(evidence), _LAYERS_AT_MOST):
        layers = [
            packed.add(Kind.EVIDENCE, _stored(store, ref), ref.media_type, **{TITLE: _stored_at(ref.digest)})
            for ref in evidence[start : start + _LAYERS_AT_MOST]
        ]
        manifest = Manifest(artifact_type=EVIDENCE_TYPE, config=bottom, layers=tuple(layers))
        manifests.append(_documents(packed, manifest))
    for image in material.images:
        types = {one.digest: one.media_type for one in (image.manifest.config, *image.manifest.layers)}
        for blob in image.blobs:
            packed.add(Kind.IMAGES, blob, types[blob.digest])
        manifests.append(_documents(packed, image.manifest))
    index = blob_of(Index(artifact_type=BUNDLE_TYPE, manifests=tuple(manifests)).to_bytes())
    top = packed.add(Kind.DOCUMENTS, index, INDEX_TYPE)
    named = top.model_copy(update={"artifact_type": BUNDLE_TYPE, "annotations": {REF_NAME: "latest"}})
    packed.index = Index(manifests=(named,)).to_bytes()
    return packed


def _main(packed: Packed, card: Card, material: Material) -> Manifest:
    whole = {image.id for image in material.images}
    config = BundleConfig(
        card=card.id,
        core_digest=card.core_digest,
        suite=card.core.plan.suite,
        images=tuple(BundledImage(image=ref, whole=ref.id in whole) for ref in material.needed),
        reviewed=tuple(sorted(set(material.reviewed))),
    )
    layers = [packed.add(Kind.CARD, blob_of(card.to_bytes()), CARD_TYPE, **{TITLE: "card.json"})]
    if material.signature is not None:
        signature = blob_of(material.signature)
        layers.append(packed.add(Kind.CARD, signature, SIGNATURE_TYPE, **{TITLE: "card.dsse.json"}))
    for kind, tree, media_type, title in (
        (Kind.TASKS, material.suite, SUITE_TYPE, f"suite-{card.core.plan.suite.name}.tar"),
        (Kind.RELEASES, material.releases, RELEASES_TYPE, "releases.tar"),
        (Kind.LOCKS, material.locks, LOCKS_TYPE, "locks.tar"),
    ):
        if tree:
            layers.append(packed.add(kind, blob_of(pack_tree(tree)), media_type, **{TITLE: title}))
    described = packed.add(Kind.DOCUMENTS, blob_of(to_json(config)), CONFIG_TYPE)
    return Manifest(artifact_type=BUNDLE_TYPE, config=described, layers=tuple(layers))


def _documents(packed: Packed, manifest: Manifest) -> Descriptor:
    found = packed.add(Kind.DOCUMENTS, blob_of(manifest.to_bytes()), MANIFEST_TYPE)
    return found.model_copy(update={"artifact_type": manifest.artifact_type, "annotations": manifest.annotations})


def _stored(store: Store, ref: BlobRef) -> Blob:
    def opened() -> AbstractContextManager[IO[bytes]]:
        return BytesIO(store.get(ref.digest))

    return Blob(ref.digest, ref.size, opened)


def _stored_at(digest: str) -> str:
    """Where a state folder keeps the blob."""
    name = digest.removeprefix("sha256:")
    return f"blobs/sha256/{name[:2]}/{name[2:]}"
