"""Small real bundles: an npm package of one file, and one wheel with a Python of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import bundles
from harness.bundles import Bundle
from harness.engine.client import Engine
from tests.conftest import ROOT, image_cache

SHIPPED = ROOT / "images"


@dataclass
class Shelf:
    """A cache of its own that has the user's packages, and recipes of its own beside the shipped base image."""

    engine: Engine
    images_dir: Path
    cache: Path
    said: list[str] = field(default_factory=list)

    def ensure(self, name: str) -> Bundle:
        """Have a bundle."""
        return bundles.ensure(self.engine.api, name, **self._where)

    def build(self, name: str) -> Bundle:
        """Build a bundle."""
        return bundles.build(self.engine.api, name, **self._where)

    def relock(self, name: str) -> Bundle:
        """Lock a bundle anew."""
        return bundles.relock(self.engine.api, name, **self._where)

    def verify(self, *names: str) -> list[bundles.VerifiedBundle]:
        """Build bundles twice."""
        return bundles.verify(self.engine.api, names, **self._where)

    def tidy(self) -> tuple[int, int] | None:
        """Remove what is superseded."""
        return bundles.tidy(self.cache, self.images_dir)

    @property
    def _where(self) -> Mapping[str, Any]:
        return {"cache": self.cache, "images_dir": self.images_dir, "report": self.said.append}


def make_shelf(engine: Engine, folder: Path) -> Shelf:
    """A shelf; the shipped base image and shared parts are its own too."""
    images_dir, cache = folder / "images", folder / "cache"
    shutil.copytree(SHIPPED / "base", images_dir / "base")
    (images_dir / "agents").mkdir()
    for name in ("parts.toml", "parts.lock.json"):
        shutil.copyfile(SHIPPED / "agents" / name, images_dir / "agents" / name)
    for name in ("wheels", "debs"):
        (cache / name).mkdir(parents=True)
        mine = image_cache() / name
        for path in mine.iterdir() if mine.is_dir() else ():
            (cache / name / path.name).symlink_to(path)  # read alone: what is missing is written beside it
    return Shelf(engine, images_dir, cache)


def npm_recipe(shelf: Shelf, name: str, dependencies: dict[str, str], **recipe: Any) -> Path:
    """A bundle of npm packages, not yet locked."""
    folder = shelf.images_dir / "agents" / name
    folder.mkdir()
    lines = ["npm = true", *(f"{key} = {json.dumps(value)}" for key, value in recipe.items())]
    (folder / "bundle.toml").write_text("\n".join(lines) + "\n")
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": dependencies}))
    return folder


def wheel_recipe(shelf: Shelf, name: str, *wheels: str) -> Path:
    """A bundle of wheels, not yet locked."""
    folder = shelf.images_dir / "agents" / name
    folder.mkdir()
    (folder / "bundle.toml").write_text(f"wheels = {json.dumps(list(wheels))}\n")
    return folder
