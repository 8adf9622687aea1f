"""What a bundle is made of: ``images/agents/NAME`` and the parts that several share.

::

    parts.toml, parts.lock.json     node and Python, wanted and locked
    NAME/bundle.toml                what is wanted
    NAME/package.json               npm packages, and
    NAME/package-lock.json          their lock as npm writes it: integrity for each, no address
    NAME/lock.json                  wheels by sha256
    NAME/bundle.json                the digest that these gave when they were locked
    NAME/solver.toml                how the agent is run (harness/solvers/manifest.py)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from harness import digest as _digest
from harness.digest import Digest
from harness.engine.images.recipe import Lock, PackageName, Recipe, Requirement, Wheel, Word, pretty
from harness.errors import UserError
from harness.files import atomic_write
from harness.records import Count, Record, from_json, to_value
from harness.suites.parse import FileModel, parse, read_toml

FOLDER = "agents"
"""Where bundles lie below the folder of images; a bundle's full name is ``agents/NAME``."""

PARTS, PARTS_LOCK = "parts", "parts.lock.json"

_REMEDY = "run `trialbox images build --relock agents/{}`"
_LAYOUT = 1
"""Goes up when the code makes another tree of the same locks."""


class NodePart(FileModel):
    """Node, from a wheel that also brings npm."""

    wheel: Requirement


class PythonPart(FileModel):
    """Debian's Python of another release, with the libraries it stands on."""

    suite: Word
    version: str
    packages: tuple[PackageName, ...]


class Parts(FileModel):
    """``parts.toml``."""

    architecture: Word
    node: NodePart
    python: PythonPart

    def debian(self) -> Recipe:
        """Python's packages as a recipe that Debian's tools understand."""
        python = self.python
        return Recipe(suite=python.suite, architecture=self.architecture, packages=python.packages, epoch=0)


class BundleRecipe(FileModel):
    """``bundle.toml``. With ``wheels`` the bundle has a Python of its own, with ``node`` a node."""

    npm: bool = False
    node: bool = False
    wheels: tuple[Requirement, ...] = ()
    omit: tuple[str, ...] = ()
    """What is locked and left out: npm packages by their place (``node_modules/...``), wheels by name."""
    drop: tuple[str, ...] = ()
    """Patterns of paths that are left out of the finished tree."""

    executable: tuple[str, ...] = ()
    """Patterns of programs that their packages forgot to mark as such, or mark when they run."""

    @model_validator(mode="after")
    def _has_something(self) -> BundleRecipe:
        if not self.npm and not self.wheels:
            raise ValueError("a bundle needs npm packages or wheels")
        return self


class NpmPackage(BaseModel):
    """One package of npm's own lock, as far as it concerns us."""

    name: str | None = None
    version: str | None = None
    integrity: str | None = None
    os: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    libc: tuple[str, ...] = ()
    link: bool = False

    def fits(self) -> bool:
        """Whether it is for linux, x64 and glibc."""
        return all(
            _fits(mine, theirs) for mine, theirs in (("linux", self.os), ("x64", self.cpu), ("glibc", self.libc))
        )


class NpmLock(BaseModel):
    """``package-lock.json``."""

    version: Literal[3] = Field(alias="lockfileVersion")
    packages: dict[str, NpmPackage]


class PublishedBundle(Record):
    """What the locks gave when they were made."""

    digest: Digest
    lock: Digest
    files: Count
    bytes: Count


@dataclass(frozen=True)
class BundleSource:
    """A bundle's recipe and locks, read. ``npm`` is by place, ``node`` None where the agent runs without one."""

    name: str
    folder: Path
    recipe: BundleRecipe
    npm: dict[str, NpmPackage]
    wheels: tuple[Wheel, ...]
    parts: Parts
    parts_lock: Lock
    lock_digest: str
    published: PublishedBundle | None

    @property
    def python(self) -> bool:
        """Whether it brings a Python."""
        return bool(self.recipe.wheels)


def names(images_dir: Path) -> tuple[str, ...]:
    """The bundles that have a recipe, without ``agents/``."""
    return tuple(sorted(path.parent.name for path in (images_dir / FOLDER).glob("*/bundle.toml")))


def load(images_dir: Path, name: str) -> BundleSource:
    """Read a bundle's recipe and locks.

    Raises:
        UserError: there is no such bundle, or a file of it is not what it should be.
    """
    recipe = load_recipe(images_dir, name)
    folder = images_dir / FOLDER / name
    npm = read_npm_lock(folder / "package-lock.json") if recipe.npm else {}
    wheels = _record(folder / "lock.json", Lock, name).wheels if recipe.wheels else ()
    parts, lock = load_parts(images_dir)
    return assemble(images_dir, name, recipe, npm, wheels, parts, lock)


def assemble(
    images_dir: Path,
    name: str,
    recipe: BundleRecipe,
    npm: dict[str, NpmPackage],
    wheels: tuple[Wheel, ...],
    parts: Parts,
    lock: Lock,
) -> BundleSource:
    """A source from what was read; what is published counts only beside the locks that it belongs to."""
    folder = images_dir / FOLDER / name
    absent = sorted(set(recipe.omit) - npm.keys() - {one.name for one in wheels})
    if absent:
        raise UserError(f"{folder}/bundle.toml: omit", f"{absent[0]} is not locked", "name what a lock has")
    wheels = tuple(one for one in wheels if one.name not in recipe.omit)
    taken = {place: one for place, one in npm.items() if one.fits() and place not in recipe.omit}
    value: dict[str, Any] = {
        "layout": _LAYOUT,
        "recipe": recipe.model_dump(mode="json", exclude_defaults=True),
        "npm": {place: [one.name, one.version, one.integrity] for place, one in taken.items()},
        "wheels": [to_value(one) for one in wheels],
        "node": to_value(lock.wheels[0]) if recipe.node else None,
        "python": [parts.python.version, *(to_value(one) for one in lock.packages)] if recipe.wheels else None,
    }
    found = _digest.digest(value)
    path = folder / "bundle.json"
    published = _record(path, PublishedBundle, name) if path.exists() else None
    published = published if published is not None and published.lock == found else None
    return BundleSource(name, folder, recipe, taken, wheels, parts, lock, found, published)


def load_recipe(images_dir: Path, name: str) -> BundleRecipe:
    """Read ``bundle.toml``; UserError names what is wrong."""
    path = images_dir / FOLDER / name / "bundle.toml"
    if not path.is_file():
        known = ", ".join(names(images_dir)) or "none"
        raise UserError(f"agent {name}", "has no bundle", f"there are: {known}")
    return parse(TypeAdapter(BundleRecipe), read_toml(path), str(path))


def read_parts(images_dir: Path) -> Parts:
    """Read ``parts.toml``; UserError names what is wrong."""
    path = images_dir / FOLDER / "parts.toml"
    return parse(TypeAdapter(Parts), read_toml(path), str(path))


def load_parts(images_dir: Path) -> tuple[Parts, Lock]:
    """Read the shared parts and their lock; UserError names what is wrong."""
    parts = read_parts(images_dir)
    path = images_dir / FOLDER / PARTS_LOCK
    lock: Lock = _record(path, Lock, PARTS)
    if len(lock.wheels) != 1 or {one.name for one in lock.packages} != set(parts.python.packages):
        raise UserError(str(path), "is not the lock of parts.toml", _REMEDY.format(PARTS))
    return parts, lock


def read_npm_lock(path: Path) -> dict[str, NpmPackage]:
    """The packages of an npm lock, by place; UserError names what is wrong."""
    try:
        lock = NpmLock.model_validate(json.loads(path.read_bytes()))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}", first["msg"], _REMEDY.format(path.parent.name)) from error
    except (OSError, ValueError) as error:
        raise UserError(str(path), str(error).splitlines()[0], _REMEDY.format(path.parent.name)) from error
    for place, package in lock.packages.items():
        if place and (not (package.integrity or "").startswith("sha512-") or package.version is None or package.link):
            raise UserError(f"{path}: {place}", "has no sha512 integrity", _REMEDY.format(path.parent.name))
    return {place: package for place, package in lock.packages.items() if place}


def write_lock(path: Path, lock: Lock) -> None:
    """Replace a lock; one package a line, so that it reads well as a diff."""
    atomic_write(path, pretty(to_value(lock)))


def publish(source: BundleSource, published: PublishedBundle) -> None:
    """Replace a bundle's published identity."""
    text = json.dumps(to_value(published), indent=2, sort_keys=True)
    atomic_write(source.folder / "bundle.json", text.encode() + b"\n")


def _fits(mine: str, theirs: tuple[str, ...]) -> bool:
    wanted = [one for one in theirs if not one.startswith("!")]
    return f"!{mine}" not in theirs and (not wanted or mine in wanted)


def _record(path: Path, kind: Any, name: str) -> Any:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(str(path), "is missing", _REMEDY.format(name)) from error
    return from_json(kind, data, str(path))
