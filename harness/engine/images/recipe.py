"""What an image is made of: a recipe that people write and a lock that a tool writes.

``images/<name>/recipe.toml`` says what is wanted, ``images/<name>/lock.json`` the exact files that give it, and
``images/<name>/image.json`` the identity that those files gave when the lock was made. The image of a compiled program
has no folder there: its source is its recipe, and the compiler's lock and the workbench's are its lock.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, ValidationError, model_validator

from harness import digest as _digest
from harness.digest import Digest
from harness.engine.images.compiler import COMPILER, WORKBENCH
from harness.errors import TrialboxError, UserError
from harness.files import atomic_write
from harness.program import Program
from harness.records import Count, R, Record, from_json, to_value

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
PackageName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+:~_-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Requirement = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(==[A-Za-z0-9.]+)?$")]


_EITHER = "give either suite, architecture, packages and epoch, or base with packages or wheels"


class Recipe(Record):
    """Either a Debian root (``suite`` and ``packages``), or more packages, wheels or both on top of one (``base``).

    With ``base`` alone it is the recipe of a program's image, which no file says.
    """

    suite: Word | None = None
    architecture: Word | None = None
    packages: tuple[PackageName, ...] = ()
    epoch: Count | None = None
    """SOURCE_DATE_EPOCH in seconds: the image's creation time, and the latest time of any of its files."""
    base: Name | None = None
    wheels: tuple[Requirement, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Recipe:
        root = (self.suite is not None, self.architecture is not None, self.epoch is not None)
        if all(root) and self.packages and not self.wheels and self.base is None:
            return self
        if self.base is not None and not any(root):
            return self
        raise ValueError(_EITHER)


class DebianPackage(Record):
    """One exact Debian package."""

    name: PackageName
    version: Word
    architecture: Word
    sha256: Sha256


class Wheel(Record):
    """One exact wheel."""

    name: str
    version: str
    filename: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]+\.whl$")]
    sha256: Sha256


class Lock(Record):
    """The exact files of an image's own layer, sorted by name."""

    packages: tuple[DebianPackage, ...] = ()
    wheels: tuple[Wheel, ...] = ()


class Published(Record):
    """The identity that a lock gave when it was made: a build that differs is noticed."""

    id: Digest
    layers: tuple[Digest, ...]
    lock: Digest
    """The lock digest that it belongs to: beside a lock that was changed since it says nothing."""


@dataclass(frozen=True)
class Source:
    """What an image is made from, read. ``lock_digest`` covers recipe, lock, and the same of the image below.

    The image of a program has no lock of its own: what it is made from is in ``compiled``.
    """

    name: str
    recipe: Recipe
    lock: Lock
    lock_digest: str
    base: Source | None
    published: Published | None
    compiled: Compiled | None = None

    @property
    def root(self) -> Source:
        """The Debian image at the bottom."""
        return self if self.base is None else self.base.root

    @property
    def debian(self) -> Recipe:
        """The recipe of a Debian root that holds all the packages from the bottom up to here."""
        if self.base is None:
            return self.recipe
        below = self.base.debian
        return below.model_copy(update={"packages": (*below.packages, *self.recipe.packages)})

    @property
    def epoch(self) -> int:
        """SOURCE_DATE_EPOCH in seconds."""
        return self.debian.epoch or 0

    @property
    def architecture(self) -> str:
        """Debian's (and the engine's) name of the processor architecture."""
        return self.debian.architecture or ""


@dataclass(frozen=True)
class Compiled:
    """A program and the image that compiles it."""

    program: Program
    compiler: Source


def names(images_dir: Path) -> tuple[str, ...]:
    """The images that have a recipe, each after the one it stands on."""
    found = sorted(path.parent.name for path in images_dir.glob("*/recipe.toml"))
    return tuple(sorted(found, key=lambda name: (load_recipe(images_dir, name).base is not None, name)))


Wanted: TypeAlias = str | Program
"""An image by the name of its folder, or by the program that is compiled into it."""


def load(images_dir: Path, wanted: Wanted) -> Source:
    """Read recipe, lock and published identity.

    Raises:
        UserError: no such image, or a file that is not what it should be.
    """
    return _program(images_dir, wanted) if isinstance(wanted, Program) else _folder(images_dir, wanted)


def _program(images_dir: Path, program: Program) -> Source:
    base, compiler = _folder(images_dir, WORKBENCH), _folder(images_dir, COMPILER)
    digest = _digest.digest({"program": program.digest, "compiler": compiler.lock_digest, "base": base.lock_digest})
    return Source(
        name=program.image,
        recipe=Recipe(base=WORKBENCH),
        lock=Lock(),
        lock_digest=digest,
        base=base,
        published=_published(program.published, digest),
        compiled=Compiled(program, compiler),
    )


def _folder(images_dir: Path, name: str) -> Source:
    recipe = load_recipe(images_dir, name)
    lock = _read(images_dir / name / "lock.json", Lock)
    below = _folder(images_dir, recipe.base) if recipe.base else None
    if below is not None and below.base is not None:
        raise UserError(
            f"images/{name}/recipe.toml: base", f"{below.name} is not a Debian image", "stand on one that is"
        )
    digest = lock_digest(recipe, lock, below)
    published = _published(images_dir / name / "image.json", digest)
    return Source(name=name, recipe=recipe, lock=lock, lock_digest=digest, base=below, published=published)


def _published(path: Path, digest: str) -> Published | None:
    """The identity noted at *path*, if it belongs to the lock digest."""
    published = _read(path, Published) if path.exists() else None
    return published if published is not None and published.lock == digest else None


def lock_digest(recipe: Recipe, lock: Lock, below: Source | None) -> str:
    """The digest of all that an image is meant to be made from."""
    return _digest.digest(
        {"recipe": to_value(recipe), "lock": to_value(lock), "base": below.lock_digest if below else None}
    )


def load_recipe(images_dir: Path, name: str) -> Recipe:
    """Read ``recipe.toml``; UserError names the file and the field."""
    path = images_dir / name / "recipe.toml"
    try:
        found = Recipe.model_validate(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError as error:
        known = ", ".join(sorted(p.parent.name for p in images_dir.glob("*/recipe.toml"))) or "none"
        raise UserError(f"image {name}", "has no recipe", f"choose one of: {known}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "recipe"
        raise UserError(f"{path}: {field}", first["msg"], "correct the recipe") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(str(path), str(error), "correct the recipe") from error
    if not (found.packages or found.wheels):
        raise UserError(f"{path}: recipe", _EITHER, "correct the recipe")
    return found


def write(images_dir: Path, name: str, lock: Lock, published: Published | None) -> None:
    """Replace an image's lock and its published identity (``None`` removes the latter)."""
    folder = images_dir / name
    atomic_write(folder / "lock.json", pretty(to_value(lock)))
    if published is None:
        (folder / "image.json").unlink(missing_ok=True)
    else:
        publish(folder / "image.json", published)


def publish(path: Path, published: Published) -> None:
    """Replace a published identity."""
    atomic_write(path, pretty(to_value(published)))


def pretty(value: Any) -> bytes:
    """One package a line, so that a new lock reads well as a diff."""
    lines = []
    for key, items in sorted(value.items()):
        if isinstance(items, list):
            body = ",\n".join("    " + json.dumps(item, sort_keys=True) for item in items)
            lines.append(f'  "{key}": [\n{body}\n  ]' if items else f'  "{key}": []')
        else:
            lines.append(f'  "{key}": {json.dumps(items)}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _read(path: Path, kind: type[R]) -> R:
    try:
        return from_json(kind, path.read_bytes(), str(path))
    except FileNotFoundError as error:
        raise UserError(str(path), "is missing", "run `trialbox images build --relock`") from error
    except TrialboxError as error:
        raise UserError(error.where, error.problem, "run `trialbox images build --relock`") from error
