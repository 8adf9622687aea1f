"""``trialbox images`` and what ``gc`` does to the image cache."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.digest import digest
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.images.cache import Made
from harness.records import ImageRef, to_json
from tests.cli_rig import Ran, trialbox
from tests.images_rig import TINY, write_recipe

ROOT = Path(__file__).resolve().parent.parent
NOWHERE = "unix:///nowhere.sock"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "state"


class Shelf:
    """A user's image cache with made-up archives in it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "trialbox" / "images"
        for name in ("made", "archives"):
            (self.root / name).mkdir(parents=True)
        (self.root / "lock").touch()

    def put(self, image_id: str, *, drift: bool = False) -> tuple[Path, Path]:
        """An archive and the note of the lock that gave it."""
        ref = ImageRef(name="base", id=image_id, lock=digest("a lock of old"), drift=drift)
        note = self.root / "made" / f"base-{image_id[7:]}.json"
        note.write_bytes(to_json(Made(image=ref, layers=())))
        tar = self.root / "archives" / f"{image_id[7:]}.tar"
        tar.write_bytes(b"0123456789")
        return note, tar


def test_gc_removes_superseded_images_and_keeps_those_that_anything_names(home: Path, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "cache")
    here = {"DOCKER_HOST": NOWHERE, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    published = json.loads((ROOT / "images/base/image.json").read_text())["id"]
    kept = [*shelf.put(published), *shelf.put(digest("drifted"), drift=True)]
    strange = shelf.root / "made" / "base-strange.json"
    strange.write_text("{")
    gone = shelf.put(digest("superseded"))
    with (shelf.root / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = trialbox(home, "gc", "--json", **here)
    assert (busy.code, busy.json["images"]) == (0, 0)
    assert "being built" in busy.json["kept"][0]
    size = sum(path.stat().st_size for path in gone)
    ran = trialbox(home, "gc", "--json", **here)
    assert ran.code == 0, ran.err
    assert (ran.json["images"], ran.json["image_bytes"], ran.json["bytes"], ran.json["kept"]) == (2, size, 0, [])
    assert not any(path.exists() for path in gone)
    assert all(path.exists() for path in [*kept, strange])


def test_gc_makes_no_image_cache(home: Path, tmp_path: Path) -> None:
    ran = trialbox(home, "gc", "--json", DOCKER_HOST=NOWHERE, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (ran.code, ran.json["images"]) == (0, 0)
    assert not (tmp_path / "cache").exists()


def test_images_are_listed_without_an_engine(home: Path) -> None:
    images = trialbox(home, "images", "list", "--json", DOCKER_HOST=NOWHERE).json["images"]
    folders = {path.parent.name for path in (ROOT / "images").glob("*/recipe.toml")}
    programs = [f"parity-{path.parent.name}" for path in sorted((ROOT / "tasks/parity").glob("*/task.toml"))]
    listed = [one["name"] for one in images]
    assert listed[0] == "base"
    assert set(listed[: len(folders)]) == folders
    assert listed[len(folders) :] == programs
    assert all(one["id"].startswith("sha256:") and one["handle"] is None for one in images)


@pytest.mark.engine
def test_images_that_are_there_are_not_built(home: Path, engine: Engine, images: Mapping[str, BuiltImage]) -> None:
    ran = trialbox(home, "images", "build", "--json", *images)
    assert ran.code == 0, ran.err
    assert {one["name"]: one["id"] for one in ran.json["images"]} == {name: one.ref.id for name, one in images.items()}
    assert "building" not in ran.err
    listed = trialbox(home, "images", "list", "--json").json["images"]
    handles = {one["name"]: one["handle"] for one in listed}
    assert {name: handles[name] for name in images} == {name: one.handle for name, one in images.items()}
    assert trialbox(home, "images", "list").out.count("in the engine") == sum(map(bool, handles.values()))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("build", "nosuch"), "nosuch"),
        (("verify", "nosuch"), "nosuch"),
        (
            ("build", "base", "--again", "--builder", "no-such-image:1"),
            "--builder no-such-image:1: is not in the engine",
        ),
        (("verify", "base", "--builder", "no-such-image:1"), "--builder no-such-image:1: is not in the engine"),
    ],
    ids=" ".join,
)
def test_an_image_that_there_is_not_is_a_user_s_mistake(
    home: Path, engine: Engine, tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    ran = trialbox(home, "images", *arguments, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.line


@pytest.mark.engine
@pytest.mark.slow
def test_relock_publishes_what_it_built(engine: Engine, tmp_path: Path) -> None:
    """In a copy of the code whose only image is a small one, since locking writes into the code's own folder."""
    code = tmp_path / "code"
    for name in ("harness", "audits", "scoring", "trialbox"):
        shutil.copytree(ROOT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    write_recipe(code / "images", "tiny", TINY)
    shutil.copytree(ROOT / "tasks" / "smoke", code / "tasks" / "smoke")

    def images(*arguments: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "trialbox", "images", *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=code,
            env={**os.environ, "PYTHONPATH": str(code), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    missing = images("build")
    assert (missing.code, missing.out) == (2, ""), missing.err
    locked = images("build", "--relock", "--json")
    assert locked.code == 0, locked.err
    [made] = locked.json["images"]
    try:
        assert json.loads((code / "images" / "tiny" / "image.json").read_text())["id"] == made["id"]
        listed = images("list", "--json").json["images"]
        assert [(one["id"], one["handle"]) for one in listed] == [(made["id"], made["handle"])]
    finally:
        engine.api.remove_image(made["handle"], force=True)
