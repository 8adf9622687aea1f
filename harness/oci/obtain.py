"""An image by our id, wherever it is to be had: the engine, a bundle, or a build from the lock that the card names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, archive, ensure, recipe
from harness.engine.images.archive import Content
from harness.engine.images.cache import Cache, content
from harness.engine.images.recipe import Source, Wanted
from harness.errors import InfraError, TrialboxError, UserError, VerifyError
from harness.oci.images import load_image, read_content, whole
from harness.oci.layout import Layout
from harness.oci.records import Manifest
from harness.oci.write import Image
from harness.records import ImageRef
from harness.suites.foreign.environment import inspect

_NOWHERE = Path("/nonexistent")


class Origin(StrEnum):
    """Where an image came from."""

    ENGINE = "engine"
    BUNDLE = "bundle"
    LOCK = "lock"
    """Built from its lock, or the archive that such a build had left."""


@dataclass(frozen=True)
class Obtained:
    """An image of exactly the wanted id. ``published`` says that a lock of this trialbox gives that id."""

    image: BuiltImage
    origin: Origin
    published: bool


@dataclass(frozen=True)
class Sources:
    """Where to look.

    Args:
        engine: the engine that will run it.
        layout: a bundle, if there is one, with the ``manifests`` of its whole images by our id.
        recipes: folders of recipes and locks: this trialbox's own, then any that came along.
        cache: the user's image cache.
        scratch: a folder for what is unpacked on the way.
        report: hears of anything slow.
    """

    engine: Engine
    layout: Layout | None
    manifests: Mapping[str, Manifest]
    recipes: Sequence[Path]
    cache: Path
    scratch: Path
    report: Callable[[str], None]

    def obtain(self, ref: ImageRef) -> Obtained:
        """The image of a plan.

        Raises:
            UserError: it is nowhere to be had.
            InfraError: the engine refuses it, or it can't be built here now.
            VerifyError: what is called so is something else.
        """
        if not ref.locked:
            return self._of_engine(ref)
        known = {one.id: one for folder in self.recipes for one in contents(folder, ref.name, self.cache)}
        published = any(one.id == ref.id for one in contents(self.recipes[0], ref.name, None))
        bundled = self._bundled(ref)
        found = bundled or known.get(ref.id)
        handle = archive.find(self.engine.api, ref.name, found) if found else None
        if handle is not None:
            return self._obtained(ref, handle, Origin.ENGINE, published)
        if bundled is not None and self.layout is not None:
            self.report(f"loading image {ref.name} from the bundle")
            handle = load_image(self.engine.api, self.layout, ref.name, bundled, self.scratch)
            return self._obtained(ref, handle, Origin.BUNDLE, published)
        return self._obtained(ref, self._built(ref), Origin.LOCK, published)

    def _bundled(self, ref: ImageRef) -> Content | None:
        manifest = self.manifests.get(ref.id)
        if manifest is None or self.layout is None:
            return None
        where = f"{self.layout.where}: image {ref.name}"
        found = read_content(self.layout, manifest, where)
        if found.id != ref.id:
            raise VerifyError(where, f"is {found.id}, not {ref.id}", "get the bundle again")
        return found

    def _built(self, ref: ImageRef) -> str:
        for folder in self.recipes:
            source = source_of(folder, ref.name)
            if source is None or source.lock_digest != ref.lock:
                continue
            try:
                built = ensure(self.engine.api, ref.name, cache=self.cache, images_dir=folder, report=self.report)
            except TrialboxError as error:
                problem = f"{ref.id[:19]} is not here and can't be built from its lock: {error}"
                raise InfraError(f"image {ref.name}", problem, "use a bundle that has its images") from error
            if built.ref.id != ref.id:
                problem = f"its lock gives {built.ref.id[:19]} now, the card's is {ref.id[:19]}"
                raise UserError(f"image {ref.name}", problem, "use a bundle that has its images")
            return built.handle
        problem = f"{ref.id[:19]} is neither in the engine nor in the bundle, and no lock here is the card's"
        raise UserError(f"image {ref.name}", problem, "use a bundle that has its images")

    def _of_engine(self, ref: ImageRef) -> Obtained:
        if inspect(self.engine, ref.id) is None:
            problem = f"{ref.id[:19]} is an image of another engine, which this one doesn't have"
            raise UserError(f"image {ref.name}", problem, "load the image that the suite was imported with")
        return self._obtained(ref, ref.id, Origin.ENGINE, False)

    def _obtained(self, ref: ImageRef, handle: str, origin: Origin, published: bool) -> Obtained:
        path = _NOWHERE if not ref.locked else Cache(self.cache, self.cache).archive(ref.id)
        return Obtained(BuiltImage(ref, handle, path, None), origin, published)


def source_of(folder: Path, wanted: Wanted) -> Source | None:
    """An image's recipe and lock in a folder; None if it has none that can be read."""
    try:
        return recipe.load(folder, wanted)
    except TrialboxError:
        return None


def contents(folder: Path, wanted: Wanted, cache: Path | None) -> Iterator[Content]:
    """What an image's lock gives: as published beside it, and as a build of it left noted in the cache."""
    source = source_of(folder, wanted)
    if source is None:
        return
    if source.published is not None:
        published = Content(source.published.layers, source.architecture, source.epoch)
        if published.id == source.published.id:
            yield published
    made = Cache(cache, cache).remembered(source) if cache is not None else None
    if made is not None:
        yield content(source, made)


def from_cache(folder: Path, ref: ImageRef, cache: Path) -> Image | None:
    """One of our images as it goes into a layout, from its archive in the cache; None where there is none.

    Raises:
        VerifyError: the archive lacks a layer.
    """
    path = Cache(cache, cache).archive(ref.id)
    found = next((one for one in contents(folder, ref.name, cache) if one.id == ref.id), None)
    return whole(ref.name, found, path) if found is not None and path.exists() else None
