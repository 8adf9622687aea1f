"""One image from its lock: fetch, install, normalise, archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import docker

from harness.engine.images import archive, rootfs, wheels
from harness.engine.images.archive import Content
from harness.engine.images.bytecode import compiled
from harness.engine.images.cache import Cache, Made, building, content, scratch
from harness.engine.images.layer import Entry, write_layer
from harness.engine.images.packages import Pantry
from harness.engine.images.recipe import Lock, Recipe, Source
from harness.engine.images.workshop import labels, sweep, workshop
from harness.errors import VerifyError
from harness.records import ImageRef


@dataclass(frozen=True)
class Builder:
    """Builds images while it holds the cache's lock; see only_builder.

    ``builder`` is a Debian-family image of the engine to build in, or ``None`` for this host.
    """

    api: docker.APIClient
    cache: Cache
    lock: int
    report: Callable[[str], None]
    builder: str | None = None

    def make(self, source: Source) -> Made:
        """The image's archive in the cache: as it is there already, or built."""
        try:
            made = self.cache.intact(source)
        except VerifyError as error:
            self.report(f"cached image {source.name}: {error.problem}; building it again")
            made = None
        return made or self.build(source)

    def load(self, source: Source, made: Made) -> str:
        """The image in the engine; returns the engine's handle."""
        wanted = content(source, made)
        found = archive.find(self.api, source.name, wanted)
        return found or archive.put(self.api, source.name, wanted, self.cache.archive(made.image.id))

    def resolve(self, recipe: Recipe, architecture: str) -> Lock:
        """A new lock: what the mirrors and the package index have now."""
        with scratch(self.cache.root) as work:
            if recipe.base is not None:
                return Lock(wheels=wheels.resolve(recipe.wheels, architecture, self.cache.root, work))
            with self._pantry(recipe, work) as pantry:
                return Lock(packages=pantry.resolve())

    def build(self, source: Source) -> Made:
        """Build the image into the cache, from its lock or, with drift, from what there is."""
        below = self.make(source.base) if source.base is not None else None
        self.report(f"building image {source.name}")
        with scratch(self.cache.root) as work, ExitStack() as stack:
            if source.base is None or below is None:
                lock = self._install(source, work)
                entries: Iterable[Entry] = rootfs.entries(work / "installed.tar", source.epoch)
                lower: tuple[str, ...] = ()
                layers: list[tuple[IO[bytes], int]] = []
            else:
                lock = source.lock
                files = wheels.fetch(lock.wheels, source.architecture, self.cache.root, work)
                handle = self.load(source.base, below)
                plain = wheels.entries(files, source.epoch, work)
                entries = stack.enter_context(
                    compiled(self.api, handle, plain, epoch=source.epoch, marks=labels(self.cache.root))
                )
                lower = below.layers
                path = self.cache.archive(below.image.id)
                layers = [stack.enter_context(archive.layer_of(path, diff_id)) for diff_id in lower]
            own = stack.enter_context((work / "layer.tar").open("w+b"))
            diff_id = write_layer(entries, own)
            layers.append((own, own.tell()))
            own.seek(0)
            built = Content((*lower, diff_id), source.architecture, source.epoch)
            archive.write_archive(work / "archive.tar", source.name, built, layers)
            drift = lock != source.lock or (below is not None and below.image.drift)
            ref = ImageRef(name=source.name, id=built.id, lock=source.lock_digest, drift=drift)
            made = Made(image=ref, layers=built.layers)
            self.cache.keep(source, made, work / "archive.tar")
        if source.published is not None and source.published.id != built.id and not drift:
            self.report(f"image {source.name}: built as {built.id}, but published as {source.published.id}")
        return made

    def _install(self, source: Source, work: Path) -> Lock:
        """Install a Debian root to ``installed.tar``; returns the lock that it really comes from."""
        with self._pantry(source.recipe, work) as pantry:
            packages = pantry.obtain(source.lock.packages)
            pantry.install(packages)
        return Lock(packages=packages)

    @contextmanager
    def _pantry(self, recipe: Recipe, work: Path) -> Iterator[Pantry]:
        (work / "debian").mkdir()
        with workshop(self.api, self.builder, work / "debian", self.lock, labels(self.cache.root)) as shop:
            yield Pantry(shop, recipe, self.cache.root, work, self.report)


@contextmanager
def only_builder(
    api: docker.APIClient, cache: Path, report: Callable[[str], None], image: str | None
) -> Iterator[Builder]:
    """Be the one builder into *cache*, after those before; what a killed one left is removed."""
    with building(cache, report) as lock:
        sweep(api, cache)
        yield Builder(api, Cache(cache, cache), lock, report, image)
