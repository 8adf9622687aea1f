"""Images built for real: the same id wherever and however often, and a plain word where that can't be."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage, build, ensure, recipe, relock
from harness.engine.images.builder import only_builder
from harness.engine.images.recipe import DebianPackage, Lock
from harness.engine.images.workshop import labels
from harness.errors import UserError
from tests.conftest import ROOT, image_cache
from tests.images_rig import (
    TINY,
    builder_image,
    inside,
    older,
    share_packages,
    snapshot_archive,
    user_with_archive,
    with_package,
    write_recipe,
)

pytestmark = [pytest.mark.engine, pytest.mark.slow]


@dataclass(frozen=True)
class Tiny:
    """A small image of current packages, and a package that was once current."""

    images_dir: Path
    cache: Path
    built: BuiltImage
    lock: Lock
    old: DebianPackage
    old_file: Path

    def folder(self, path: Path, lock: Lock) -> Path:
        """Another images folder with the same recipe and *lock*, and nothing published."""
        write_recipe(path, "tiny", TINY)
        recipe.write(path, "tiny", lock, None)
        return path


@pytest.fixture(scope="module")
def tiny(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiny]:
    """Locked from the machine's own mirrors."""
    work = tmp_path_factory.mktemp("tiny")
    images_dir, cache = work / "images", work / "cache"
    write_recipe(images_dir, "tiny", TINY)
    built = relock(engine.api, "tiny", cache=cache, images_dir=images_dir, report=print)
    lock = recipe.load(images_dir, "tiny").lock
    package = next(one for one in lock.packages if one.name == "tar")
    old, old_file = older(package, cache, work)
    yield Tiny(images_dir, cache, built, lock, old, old_file)
    engine.api.remove_image(built.handle, force=True)


@pytest.fixture(scope="module")
def old_image(engine: Engine, tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltImage]:
    """The image with the older package, which only the snapshot archive has."""
    work = tmp_path_factory.mktemp("old")
    images_dir = tiny.folder(work / "images", with_package(tiny.lock, tiny.old))
    share_packages(tiny.cache, work / "cache")
    with snapshot_archive(tiny.old, tiny.old_file) as address, pytest.MonkeyPatch.context() as patch:
        user_with_archive(work / "home", address)
        patch.setenv("HOME", str(work / "home"))
        patch.setenv("NO_PROXY", "127.0.0.1")
        built = build(engine.api, "tiny", cache=work / "cache", images_dir=images_dir, report=print)
    yield built
    engine.api.remove_image(built.handle, force=True)


def test_relock_publishes_what_it_built(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    source = recipe.load(tiny.images_dir, "tiny")
    assert source.published is not None
    assert source.published.id == tiny.built.ref.id
    assert tiny.built.ref.lock == source.lock_digest
    assert not tiny.built.ref.drift
    seen = ensure(engine.api, "tiny", cache=tmp_path, images_dir=tiny.images_dir, report=pytest.fail)
    assert (seen.ref, seen.handle) == (tiny.built.ref, tiny.built.handle)


def test_versions_that_left_the_mirrors_come_from_the_snapshot_archive(
    engine: Engine, tiny: Tiny, old_image: BuiltImage
) -> None:
    assert not old_image.ref.drift
    assert old_image.ref.id != tiny.built.ref.id
    assert inside(engine, old_image.handle, "cat", "/usr/share/older/mark") == "an older version\n"


def test_without_the_archive_the_build_goes_on_with_drift(
    engine: Engine, tiny: Tiny, old_image: BuiltImage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = with_package(tiny.lock, tiny.old)
    images_dir = tiny.folder(tmp_path / "images", lock)
    share_packages(tiny.cache, tmp_path / "cache")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    user_with_archive(tmp_path / "home", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    said: list[str] = []

    drifted = ensure(engine.api, "tiny", cache=tmp_path / "cache", images_dir=images_dir, report=said.append)

    assert drifted.ref.drift
    assert drifted.ref.lock == old_image.ref.lock
    assert drifted.ref.id == tiny.built.ref.id, "current versions give the id of a lock of current versions"
    assert any(line.startswith("IMAGE DRIFT: tar ") for line in said), said

    said.clear()
    again = ensure(engine.api, "tiny", cache=tmp_path / "cache", images_dir=images_dir, report=said.append)
    assert again.ref == drifted.ref
    assert [line.split(":")[0] for line in said] == ["IMAGE DRIFT"], "said again, built no more"


def test_a_builder_container_gives_the_same_id(
    engine: Engine, images: Mapping[str, BuiltImage], tiny: Tiny, tmp_path: Path
) -> None:
    images_dir = tiny.folder(tmp_path / "images", tiny.lock)
    share_packages(tiny.cache, tmp_path / "cache")
    share_packages(image_cache(), tmp_path / "tools")
    with builder_image(engine.api, images["base"], ROOT / "images", tmp_path / "tools", tmp_path / "work") as builder:
        built = build(
            engine.api, "tiny", cache=tmp_path / "cache", images_dir=images_dir, report=print, builder=builder
        )
        assert engine.api.containers(all=True, filters={"ancestor": builder}) == []
    assert built.ref.id == tiny.built.ref.id


def test_an_unknown_builder_is_a_users_mistake(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    images_dir = tiny.folder(tmp_path / "images", tiny.lock)
    with pytest.raises(UserError, match="--builder nosuch:image: is not in the engine"):
        build(engine.api, "tiny", cache=tmp_path / "cache", images_dir=images_dir, report=print, builder="nosuch:image")


SCRIPT = """
import sys, docker
from pathlib import Path
from harness.engine.images import build
where, cache = Path(sys.argv[1]), Path(sys.argv[2])
done = build(docker.APIClient(base_url=sys.argv[3]), "tiny", cache=cache, images_dir=where, report=print, again=False)
print("ID", done.ref.id)
"""


def test_killed_and_raced_builds_give_the_same_id(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    images_dir = tiny.folder(tmp_path / "images", tiny.lock)
    share_packages(tiny.cache, cache)
    command = [sys.executable, "-c", SCRIPT, str(images_dir), str(cache), engine.info.address]
    for _ in range(2):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as victim:
            time.sleep(random.uniform(0.5, 6))
            os.kill(victim.pid, signal.SIGKILL)
    racers = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [racer.communicate()[0].splitlines() for racer in racers]
    assert [lines[-1] for lines in said] == [f"ID {tiny.built.ref.id}"] * 2
    assert sum("building image tiny" in lines for lines in said) == 1, "the second takes what the first built"
    assert not list((cache / "scratch").glob("*"))


def test_containers_of_a_killed_build_go_with_the_next(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    left = engine.api.create_container(tiny.built.handle, ["/bin/true"], labels=labels(tmp_path))["Id"]
    other = engine.api.create_container(tiny.built.handle, ["/bin/true"], labels=labels(tmp_path / "other"))["Id"]
    try:
        with only_builder(engine.api, tmp_path, print, None):
            ids = {one["Id"] for one in engine.api.containers(all=True)}
        assert left not in ids
        assert other in ids, "another cache's builder may be at work"
    finally:
        engine.api.remove_container(other)


def test_a_damaged_archive_is_noticed_and_built_again(engine: Engine, tiny: Tiny, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    images_dir = tmp_path / "images"
    shutil.copytree(tiny.images_dir, images_dir)
    share_packages(tiny.cache, cache)
    for folder in ("archives", "made"):
        shutil.copytree(tiny.cache / folder, cache / folder)
    path = cache / "archives" / tiny.built.archive.name
    with path.open("r+b") as handle:
        handle.seek(path.stat().st_size // 2)
        handle.write(b"damage")
    said: list[str] = []
    built = build(engine.api, "tiny", cache=cache, images_dir=images_dir, report=said.append, again=False)
    assert built.ref == tiny.built.ref
    assert said[0].startswith("cached image tiny: ")
    assert path.read_bytes() == tiny.built.archive.read_bytes()
