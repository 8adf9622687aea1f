"""A made-up card in a bundle, with a suite and an image that are small: no engine is needed to make or read it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.digest import sha256_bytes
from harness.engine.images.archive import Content, write_archive
from harness.oci.images import whole
from harness.oci.write import write_folder, write_tar
from harness.records import ImageRef
from harness.store import LocalStore
from harness.suites.tree import LINK, REGULAR, Entry, Tree
from scoring.bundle import Material, Packed, pack
from scoring.card import Card, make_card, write_card
from tests.card_rig import MADE, make_evidence
from tests.plans import ZERO, plan

SUITE = Tree(
    [
        Entry("suite.toml", REGULAR, b"schema = 1\n"),
        Entry("t0/task.toml", REGULAR, b"schema = 1\n"),
        Entry("t0/before/a.py", 0o755, b"print(1)\n" * 400),
        Entry("t0/before/b.py", LINK, b"a.py"),
    ]
)
LOCKS = Tree([Entry("base/lock.json", REGULAR, b"{}")])


@dataclass(frozen=True)
class Made:
    """A card with its evidence, and the bundle of it."""

    card: Card
    card_path: Path
    store: LocalStore
    packed: Packed
    content: Content
    path: Path

    def written(self, name: str) -> Path:
        """The bundle once more, under another name."""
        path = self.path.with_name(name)
        write_tar(path, self.packed.index, self.packed.ordered())
        return path

    def folder(self, name: str) -> Path:
        """The bundle as a folder."""
        path = self.path.with_name(name)
        write_folder(path, self.packed.index, self.packed.ordered())
        return path


def make_bundle(root: Path, signature: bytes | None = None, reviewed: tuple[str, ...] = ()) -> Made:
    """A bundle with everything that one may hold."""
    layer = b"x" * 10_240
    content = Content((sha256_bytes(layer),), "amd64", 1_700_000_000)
    archive = root / "image.tar"
    write_archive(archive, "base", content, [(io.BytesIO(layer), len(layer))])
    ref = ImageRef(name="base", id=content.id, lock=ZERO)
    store = LocalStore(root / "blobs")
    of = plan().model_copy(update={"images": (ref,)})
    card = make_card(make_evidence(store, of, {}), MADE)
    path = write_card(root / "cards", card)
    material = Material(
        suite=SUITE,
        releases=Tree(),
        locks=LOCKS,
        needed=(ref,),
        images=(whole("base", content, archive),),
        signature=signature,
        reviewed=reviewed,
    )
    packed = pack(card, store, material)
    made = Made(card, path, store, packed, content, root / "bundle.tar")
    write_tar(made.path, packed.index, packed.ordered())
    return made


def members(path: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    """What a tar holds."""
    with tarfile.open(path, "r:") as tar:
        return [(member, tar.extractfile(member).read()) for member in tar]  # type: ignore[union-attr]


def rewritten(
    path: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None], form: int = tarfile.USTAR_FORMAT
) -> Path:
    """The bundle as somebody else would write it: *change* alters its members."""
    parts = members(path)
    change(parts)
    bad = path.with_name("bad.tar")
    with tarfile.open(bad, "w", format=form) as tar:
        for member, data in parts:
            tar.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return bad
