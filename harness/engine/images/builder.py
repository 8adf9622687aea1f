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
from harness.engine.images.compiler import compile_source
from harness.engine.images.compiler import entries as program_entries
from harness.engine.images.layer import Entry, write_layer
from harness.engine.images.packages import Packages, Pantry
from harness.engine.images.recipe import Compiled, Lock, Recipe, Source
from harness.engine.images.workshop import labels, sweep, workshop
from harness.errors import UserError, VerifyError
from harness.program import STRICT
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

    def resolve(self, source: Source) -> Lock:
        """A new lock for the recipe of *source*: what the mirrors and the package index have now.

        Raises:
            UserError: the packages of the image below are not the mirrors' current ones any more.
        """
        wanted = source.recipe
        with scratch(self.cache.root) as work:
            packages: Packages = ()
            if wanted.packages:
                with self._pantry(source.debian, work) as pantry:
                    packages = pantry.resolve()
            below = source.base.lock.packages if source.base else ()
            if outdated := set(below) - set(packages) if packages else ():
                first = min(package.name for package in outdated)
                raise UserError(
                    f"image {source.name}", f"{first} of the image below is outdated", "lock that one first"
                )
            own = tuple(package for package in packages if package not in set(below))
            if not wanted.wheels:
                return Lock(packages=own)
            return Lock(packages=own, wheels=wheels.resolve(wanted.wheels, source.architecture, self.cache.root, work))

    def build(self, source: Source) -> Made:
        """Build the image into the cache, from its lock or, with drift, from what there is."""
        below = self.make(source.base) if source.base is not None else None
        compiler = self.make(source.compiled.compiler) if source.compiled is not None else None
        self.report(f"building image {source.name}")
        with scratch(self.cache.root) as work, ExitStack() as stack:
            layers: list[tuple[IO[bytes], int]] = []
            if below is not None:
                path = self.cache.archive(below.image.id)
                layers = [stack.enter_context(archive.layer_of(path, diff_id)) for diff_id in below.layers]
            lock = source.lock
            entries: Iterable[Entry] = ()
            if source.compiled is not None and compiler is not None:
                entries = self._program(source.compiled, compiler, source.epoch)
            elif source.recipe.packages:
                lock = self._install(source, work)
                entries = rootfs.entries(work / "installed.tar", source.epoch)
                if layers:
                    entries = rootfs.added(entries, layers[0][0])
                    layers[0][0].seek(0)
            if source.base is not None and below is not None and source.lock.wheels:
                files = wheels.fetch(source.lock.wheels, source.architecture, self.cache.root, work)
                handle = self.load(source.base, below)
                plain = wheels.entries(files, source.epoch, work)
                modules = compiled(self.api, handle, plain, epoch=source.epoch, marks=labels(self.cache.root))
                entries = [*entries, *stack.enter_context(modules)]
            own = stack.enter_context((work / "layer.tar").open("w+b"))
            diff_id = write_layer(entries, own)
            layers.append((own, own.tell()))
            own.seek(0)
            lower = below.layers if below is not None else ()
            built = Content((*lower, diff_id), source.architecture, source.epoch)
            archive.write_archive(work / "archive.tar", source.name, built, layers)
            drift = lock != source.lock or any(made.image.drift for made in (below, compiler) if made is not None)
            ref = ImageRef(name=source.name, id=built.id, lock=source.lock_digest, drift=drift)
            made = Made(image=ref, layers=built.layers)
            self.cache.keep(source, made, work / "archive.tar")
        if source.published is not None and source.published.id != built.id and not drift:
            self.report(f"image {source.name}: built as {built.id}, but published as {source.published.id}")
        return made

    def _program(self, source: Compiled, compiler: Made, epoch: int) -> Iterator[Entry]:
        """The layer of a compiled program."""
        handle = self.load(source.compiler, compiler)
        marks = labels(self.cache.root)
        made = compile_source(self.api, handle, source.program, {"plain": STRICT}, epoch=epoch, marks=marks)
        return program_entries(source.program.name, made["plain"], epoch)

    def _install(self, source: Source, work: Path) -> Lock:
        """Install a Debian root to ``installed.tar``; returns the lock that its own layer really comes from."""
        below = source.base.lock.packages if source.base is not None else ()
        with self._pantry(source.debian, work) as pantry:
            packages = pantry.obtain((*below, *source.lock.packages))
            pantry.install(packages)
        own = tuple(package for package in packages if package not in set(below))
        return source.lock.model_copy(update={"packages": own})

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
