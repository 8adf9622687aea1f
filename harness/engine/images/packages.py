"""Debian packages: the locked ones by digest, from the cache, the mirrors or Debian's snapshot archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.engine.images.recipe import DebianPackage, Recipe
from harness.engine.images.workshop import Workshop
from harness.errors import InfraError
from harness.files import atomic_write

Packages = tuple[DebianPackage, ...]


@dataclass(frozen=True)
class Pantry:
    """Where one recipe's packages come from: a workshop with apt, and a cache of packages by digest.

    ``scratch`` is a folder for this build alone; ``report`` hears one line for each thing that a user should know.
    """

    shop: Workshop
    recipe: Recipe
    cache: Path
    scratch: Path
    report: Callable[[str], None]

    def obtain(self, locked: Packages) -> Packages:
        """The packages to build from, all in the cache: the locked ones, else (drift) what the mirrors have now.

        Raises:
            InfraError: neither can be had.
        """
        missing = self._missing(locked)
        if not missing:
            return locked
        self.report(f"fetching {len(missing)} Debian packages")
        self._index()
        offered = set(_parse(self.shop.run("offered", *sorted({package.name for package in missing}))))
        self._fetch("download", [package for package in missing if package in offered])
        if gone := self._missing(locked):
            self.report(f"{_some(gone)}: not on Debian's mirrors any more; asking the snapshot archive")
            try:
                self._fetch("archived", gone)
            except InfraError as error:
                self.report(f"the snapshot archive can't be used: {error.problem}")
        if gone := self._missing(locked):
            self.report(f"IMAGE DRIFT: {_some(gone)} can't be had; building from current versions under another id")
            return self._current()
        return locked

    def resolve(self) -> Packages:
        """What the mirrors have now for the recipe, all in the cache."""
        self._index()
        return self._current()

    def install(self, packages: Packages) -> Path:
        """Install *packages*, without network, into a fresh root; returns it as a tar."""
        self.shop.run("tools")
        for package in packages:
            self.shop.put(f"debs/{package.sha256}.deb", self._cached(package))
        self._want(packages)
        self.shop.run("rootfs", self.recipe.suite or "", self.recipe.architecture or "", str(self.recipe.epoch))
        tar = self.scratch / "installed.tar"
        self.shop.get("rootfs.tar", tar)
        return tar

    def _index(self) -> None:
        self.shop.run("tools")
        self.shop.run("index", self.recipe.suite or "", self.recipe.architecture or "")

    def _current(self) -> Packages:
        chosen = _parse(self.shop.run("resolve", *self.recipe.packages))
        self._fetch("download", self._missing(chosen))
        if gone := self._missing(chosen):
            raise InfraError("Debian packages", f"{_some(gone)} can't be downloaded", "check the system's apt sources")
        return chosen

    def _fetch(self, verb: str, wanted: list[DebianPackage]) -> None:
        if not wanted:
            return
        self._want(wanted)
        try:
            self.shop.run(verb)
        finally:
            for package in wanted:
                arrived = self.scratch / "arrived.deb"
                self.shop.get(f"debs/{package.sha256}.deb", arrived)
                if _intact(arrived, package.sha256):
                    atomic_write(self._cached(package), arrived.read_bytes())

    def _want(self, packages: Iterable[DebianPackage]) -> None:
        path = self.scratch / "want"
        path.write_text("".join(f"{p.name} {p.version} {p.architecture} {p.sha256}\n" for p in packages))
        self.shop.put("want", path)

    def _missing(self, packages: Packages) -> list[DebianPackage]:
        return [package for package in packages if not _intact(self._cached(package), package.sha256)]

    def _cached(self, package: DebianPackage) -> Path:
        return self.cache / "debs" / f"{package.sha256}.deb"


def _parse(text: str) -> Packages:
    rows = sorted(line.split() for line in text.splitlines())
    return tuple(DebianPackage(name=n, version=v, architecture=a, sha256=s) for n, v, a, s in rows)


def _intact(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest() == sha256


def _some(packages: list[DebianPackage]) -> str:
    names = ", ".join(f"{package.name} {package.version}" for package in packages[:4])
    return names + (f" and {len(packages) - 4} more" if len(packages) > 4 else "")
