"""What an image is made of: a recipe that people write and a lock that a tool writes.

``images/<name>/recipe.toml`` says what is wanted, ``images/<name>/lock.json`` the exact files that give it, and
``images/<name>/image.json`` the identity that those files gave when the lock was made.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, model_validator

from harness import digest as _digest
from harness.digest import Digest
from harness.errors import TrialboxError, UserError
from harness.files import atomic_write
from harness.records import Count, R, Record, from_json, to_value

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
PackageName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+:~_-]*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Requirement = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(==[A-Za-z0-9.]+)?$")]


class Recipe(Record):
    """Either a Debian root (``suite`` and ``packages``) or wheels on top of another image (``base`` and ``wheels``)."""

    suite: Word | None = None
    architecture: Word | None = None
    packages: tuple[PackageName, ...] = ()
    epoch: Count | None = None
    """SOURCE_DATE_EPOCH in seconds: the image's creation time, and the latest time of any of its files."""
    base: Name | None = None
    wheels: tuple[Requirement, ...] = ()

    @model_validator(mode="after")
    def _one_kind(self) -> Recipe:
        debian = (self.suite is not None, self.architecture is not None, bool(self.packages), self.epoch is not None)
        derived = (self.base is not None, bool(self.wheels))
        if (all(debian) and not any(derived)) or (all(derived) and not any(debian)):
            return self
        raise ValueError("give either suite, architecture, packages and epoch, or base and wheels")


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
    """An image's folder, read. ``lock_digest`` covers recipe, lock, and the same of the image below."""

    name: str
    recipe: Recipe
    lock: Lock
    lock_digest: str
    base: Source | None
    published: Published | None

    @property
    def root(self) -> Source:
        """The Debian image at the bottom."""
        return self if self.base is None else self.base.root

    @property
    def epoch(self) -> int:
        """SOURCE_DATE_EPOCH in seconds."""
        return self.root.recipe.epoch or 0

    @property
    def architecture(self) -> str:
        """Debian's (and the engine's) name of the processor architecture."""
        return self.root.recipe.architecture or ""


def names(images_dir: Path) -> tuple[str, ...]:
    """The images that have a recipe, each after the one it stands on."""
    found = sorted(path.parent.name for path in images_dir.glob("*/recipe.toml"))
    return tuple(sorted(found, key=lambda name: (load_recipe(images_dir, name).base is not None, name)))


def load(images_dir: Path, name: str) -> Source:
    """Read recipe, lock and published identity.

    Raises:
        UserError: no such image, or a file that is not what it should be.
    """
    recipe = load_recipe(images_dir, name)
    lock = _read(images_dir / name / "lock.json", Lock)
    below = load(images_dir, recipe.base) if recipe.base else None
    if below is not None and below.base is not None:
        raise UserError(
            f"images/{name}/recipe.toml: base", f"{below.name} is not a Debian image", "stand on one that is"
        )
    digest = lock_digest(recipe, lock, below)
    path = images_dir / name / "image.json"
    published = _read(path, Published) if path.exists() else None
    if published is not None and published.lock != digest:
        published = None
    return Source(name=name, recipe=recipe, lock=lock, lock_digest=digest, base=below, published=published)


def lock_digest(recipe: Recipe, lock: Lock, below: Source | None) -> str:
    """The digest of all that an image is meant to be made from."""
    return _digest.digest(
        {"recipe": to_value(recipe), "lock": to_value(lock), "base": below.lock_digest if below else None}
    )


def load_recipe(images_dir: Path, name: str) -> Recipe:
    """Read ``recipe.toml``; UserError names the file and the field."""
    path = images_dir / name / "recipe.toml"
    try:
        return Recipe.model_validate(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError as error:
        known = ", ".join(sorted(p.parent.name for p in images_dir.glob("*/recipe.toml"))) or "none"
        raise UserError(f"image {name}", "has no recipe", f"choose one of: {known}") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "recipe"
        raise UserError(f"{path}: {field}", first["msg"], "correct the recipe") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UserError(str(path), str(error), "correct the recipe") from error


def write(images_dir: Path, name: str, lock: Lock, published: Published | None) -> None:
    """Replace an image's lock and its published identity (``None`` removes the latter)."""
    folder = images_dir / name
    atomic_write(folder / "lock.json", _pretty(to_value(lock)))
    if published is None:
        (folder / "image.json").unlink(missing_ok=True)
    else:
        atomic_write(folder / "image.json", _pretty(to_value(published)))


def _pretty(value: Any) -> bytes:
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
