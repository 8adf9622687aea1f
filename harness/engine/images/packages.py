"""Debian packages: the locked ones by digest, from the cache, the mirrors or Debian's snapshot archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.engine.images.recipe import DebianPackage, Recipe
from harness.engine.images.workshop import Workshop
from harness.errors import InfraError
from harness.files import atomic_write

Report = Callable[[str], None]
Packages = tuple[DebianPackage, ...]


def obtain(shop: Workshop, recipe: Recipe, locked: Packages, cache: Path, scratch: Path, report: Report) -> Packages:
    """The packages to build from, all in the cache: the locked ones, else (drift) what the mirrors have now.

    Raises:
        InfraError: neither can be had.
    """
    missing = _missing(cache, locked)
    if not missing:
        return locked
    shop.run("tools")
    report(f"fetching {len(missing)} Debian packages")
    shop.run("index", recipe.suite or "", recipe.architecture or "")
    offered = set(_parse(shop.run("offered", *sorted({package.name for package in missing}))))
    _fetch(shop, "download", [package for package in missing if package in offered], cache, scratch)
    if gone := _missing(cache, locked):
        report(f"{_some(gone)} left Debian's mirrors: asking the snapshot archive")
        try:
            _fetch(shop, "archived", gone, cache, scratch)
        except InfraError as error:
            report(f"the snapshot archive can't be used: {error.problem}")
    if gone := _missing(cache, locked):
        report(f"IMAGE DRIFT: {_some(gone)} can't be had; building with the mirrors' current versions under another id")
        return _current(shop, recipe, cache, scratch)
    return locked


def resolve(shop: Workshop, recipe: Recipe, cache: Path, scratch: Path) -> Packages:
    """What the mirrors have now for *recipe*, all in the cache."""
    shop.run("tools")
    shop.run("index", recipe.suite or "", recipe.architecture or "")
    return _current(shop, recipe, cache, scratch)


def install(shop: Workshop, recipe: Recipe, packages: Packages, cache: Path, scratch: Path) -> Path:
    """Install *packages* without network into a fresh root; returns it as a tar."""
    shop.run("tools")
    for package in packages:
        shop.put(f"debs/{package.sha256}.deb", _cached(cache, package))
    _want(shop, packages, scratch)
    shop.run("rootfs", recipe.suite or "", recipe.architecture or "", str(recipe.epoch))
    tar = scratch / "installed.tar"
    shop.get("rootfs.tar", tar)
    return tar


def _current(shop: Workshop, recipe: Recipe, cache: Path, scratch: Path) -> Packages:
    chosen = _parse(shop.run("resolve", *recipe.packages))
    _fetch(shop, "download", _missing(cache, chosen), cache, scratch)
    if gone := _missing(cache, chosen):
        raise InfraError("Debian packages", f"{_some(gone)} can't be downloaded", "check the system's apt sources")
    return chosen


def _fetch(shop: Workshop, verb: str, wanted: Iterable[DebianPackage], cache: Path, scratch: Path) -> None:
    wanted = tuple(wanted)
    if not wanted:
        return
    _want(shop, wanted, scratch)
    try:
        shop.run(verb)
    finally:
        arrived = scratch / "arrived"
        shop.get("debs", arrived)
        for package in wanted:
            path = arrived / f"{package.sha256}.deb"
            if path.is_file() and _sha256(path) == package.sha256:
                atomic_write(_cached(cache, package), path.read_bytes())


def _want(shop: Workshop, packages: Iterable[DebianPackage], scratch: Path) -> None:
    lines = [f"{package.name} {package.version} {package.architecture} {package.sha256}\n" for package in packages]
    path = scratch / "want"
    path.write_text("".join(lines))
    shop.put("want", path)


def _parse(text: str) -> Packages:
    rows = sorted(line.split() for line in text.splitlines())
    return tuple(DebianPackage(name=n, version=v, architecture=a, sha256=s) for n, v, a, s in rows)


def _missing(cache: Path, packages: Packages) -> list[DebianPackage]:
    return [package for package in packages if not _intact(_cached(cache, package), package.sha256)]


def _cached(cache: Path, package: DebianPackage) -> Path:
    return cache / "debs" / f"{package.sha256}.deb"


def _intact(path: Path, sha256: str) -> bool:
    return path.is_file() and _sha256(path) == sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _some(packages: list[DebianPackage]) -> str:
    names = ", ".join(f"{package.name} {package.version}" for package in packages[:4])
    return names + (f" and {len(packages) - 4} more" if len(packages) > 4 else "")
