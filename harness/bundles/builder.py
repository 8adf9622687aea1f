"""One bundle from its locks: fetch, lay out, compile, settle, measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker

from harness.bundles import interpreter, npm
from harness.bundles.recipe import BundleSource, Parts
from harness.bundles.tree import Measured, matching, measure, settle
from harness.engine.images import wheels
from harness.engine.images.packages import Packages, Pantry
from harness.engine.images.recipe import Lock, Wheel
from harness.engine.images.workshop import labels, workshop


@dataclass(frozen=True)
class Maker:
    """Builds bundles while it holds the cache's lock.

    ``base`` is the engine's handle of our own base image, in which bytecode is made; ``builder`` a Debian-family image
    to fetch packages in, or None for this host.
    """

    api: docker.APIClient
    base: str
    cache: Path
    lock: int
    report: Callable[[str], None]
    builder: str | None = None

    def make(self, source: BundleSource, tree: Path, work: Path) -> tuple[Measured, bool]:
        """Make the bundle in *tree*, which is not there yet; returns what it is and whether it drifted from its lock.

        Raises:
            InfraError: something locked can't be had, or the engine refused.
        """
        self.report(f"building agents/{source.name}")
        tree.mkdir()
        drift = False
        if source.npm:
            for place, package in sorted(
                self.npm(source.parts, source.parts_lock, work).fetch(source.npm, work).items()
            ):
                npm.unpack(package, tree / place)
        if source.recipe.node:
            npm.put_node(self._node(source.parts, source.parts_lock, work), tree)
        if source.recipe.wheels:
            drift = self._python(source, tree, work)
        for path in matching(tree, source.recipe.drop):
            path.unlink()
        for path in matching(tree, source.recipe.executable):
            path.chmod(0o755)
        if source.recipe.wheels:
            version = source.parts.python.version
            interpreter.compile_modules(self.api, self.base, version, tree, labels(self.cache))
        settle(tree)
        return measure(tree), drift

    def npm(self, parts: Parts, lock: Lock, work: Path) -> npm.Npm:
        """npm, out of the locked wheel."""
        return npm.npm_of(self._node(parts, lock, work), self.cache, work)

    def wheels(self, wanted: tuple[str, ...], parts: Parts, work: Path) -> tuple[Wheel, ...]:
        """The wheels that requirements need now on the bundles' Python."""
        return wheels.resolve(wanted, parts.architecture, self.cache, work, parts.python.version)

    def parts(self, parts: Parts, work: Path) -> Lock:
        """A new lock of the shared parts."""
        node = wheels.resolve((parts.node.wheel,), parts.architecture, self.cache, work)
        with self._pantry(parts, work) as pantry:
            return Lock(packages=_only(parts, pantry.resolve()), wheels=node)

    def _node(self, parts: Parts, lock: Lock, work: Path) -> Path:
        (wheel,) = lock.wheels
        return wheels.fetch(lock.wheels, parts.architecture, self.cache, work)[wheel]

    def _python(self, source: BundleSource, tree: Path, work: Path) -> bool:
        version, locked = source.parts.python.version, source.parts_lock.packages
        with self._pantry(source.parts, work) as pantry:
            packages = _only(source.parts, pantry.obtain(locked))
        paths = [self.cache / "debs" / f"{one.sha256}.deb" for one in packages]
        interpreter.put_python(paths, version, tree)
        files = wheels.fetch(source.wheels, source.parts.architecture, self.cache, work, version)
        interpreter.put_wheels(files, version, tree)
        return packages != locked

    @contextmanager
    def _pantry(self, parts: Parts, work: Path) -> Iterator[Pantry]:
        """Where Debian packages come from; a mirror's newer versions are the drift that images know too."""
        folder = work / "debian"
        folder.mkdir(exist_ok=True)
        with workshop(self.api, self.builder, folder, self.lock, labels(self.cache)) as shop:
            yield Pantry(shop, parts.debian(), self.cache, work, self.report)


def _only(parts: Parts, packages: Packages) -> Packages:
    """Python's packages alone: what the mirrors have now comes as a whole root."""
    return tuple(one for one in packages if one.name in parts.python.packages)
