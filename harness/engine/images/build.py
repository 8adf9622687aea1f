"""Images on demand: from the engine, else from the cache, else built from the lock."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import docker

from harness.engine.images import archive, packages, recipe, rootfs, wheels
from harness.engine.images.archive import Content
from harness.engine.images.layer import Entry, write_layer
from harness.engine.images.recipe import Lock, Published, Source
from harness.engine.images.workshop import HostWorkshop, Workshop
from harness.errors import InfraError, TrialboxError, VerifyError
from harness.files import atomic_write, storage_error
from harness.records import ImageRef, Record, from_json, to_json

Report = Callable[[str], None]


@dataclass(frozen=True)
class BuiltImage:
    """An image in the engine. ``handle`` is the engine's id, ``archive`` the docker-save file, ``size`` its bytes."""

    ref: ImageRef
    handle: str
    archive: Path
    size: int


class Made(Record):
    """What a build from one lock gave, kept in the cache beside the archive."""

    image: ImageRef
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Bench:
    """What every step of a build needs: the cache, the recipes, a listener, and the builder image (None: this host)."""

    cache: Path
    images_dir: Path
    report: Report
    builder: str | None = None
    api: docker.APIClient | None = None


def ensure(api: docker.APIClient, name: str, *, cache: Path, images_dir: Path, report: Report) -> BuiltImage:
    """Have the image in the engine, whatever that takes."""
    bench = Bench(cache, images_dir, report, api=api)
    source = recipe.load(images_dir, name)
    made = _published(source) or _remembered(bench, source)
    if made is not None:
        handle = archive.find(api, name, _content(source, made))
        if handle is not None:
            return _built(bench, made, handle)
    with locked(cache):
        made, path = _from_cache(bench, source) or _build(bench, source)
        handle = archive.put(api, name, _content(source, made), path)
    return _built(bench, made, handle)


def _built(bench: Bench, made: Made, handle: str) -> BuiltImage:
    path = archive_path(bench.cache, made.image.id)
    return BuiltImage(made.image, handle, path, path.stat().st_size if path.exists() else 0)


def archive_path(cache: Path, image_id: str) -> Path:
    """Where the cache keeps an image's archive."""
    return cache / "archives" / (image_id.removeprefix("sha256:") + ".tar")


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """One builder at a time; what a killed one left in the scratch folder goes.

    The lock is inherited by the tools that a build starts, so that a killed build's orphans are waited for.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = os.open(cache / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise storage_error(cache, error) from error
    try:
        os.set_inheritable(lock, True)
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(cache / "scratch", ignore_errors=True)
        yield
    finally:
        os.close(lock)


def _content(source: Source, made: Made) -> Content:
    return Content(made.layers, source.architecture, source.epoch)


def _published(source: Source) -> Made | None:
    if source.published is None:
        return None
    ref = ImageRef(name=source.name, id=source.published.id, lock=source.lock_digest)
    return Made(image=ref, layers=source.published.layers)


def _memory(cache: Path, source: Source) -> Path:
    return cache / "made" / f"{source.name}-{source.lock_digest.removeprefix('sha256:')}.json"


def _remembered(bench: Bench, source: Source) -> Made | None:
    try:
        return from_json(Made, _memory(bench.cache, source).read_bytes())
    except (FileNotFoundError, VerifyError):
        return None


def _from_cache(bench: Bench, source: Source) -> tuple[Made, Path] | None:
    made = _remembered(bench, source)
    if made is None:
        return None
    path = archive_path(bench.cache, made.image.id)
    try:
        archive.check_archive(path, _content(source, made))
    except VerifyError as error:
        if path.exists():
            bench.report(f"cached image {source.name}: {error.problem}; building it again")
        return None
    return made, path


def _build(bench: Bench, source: Source) -> tuple[Made, Path]:
    below = None
    if source.base is not None:
        below = _from_cache(bench, source.base) or _build(bench, source.base)
    bench.report(f"building image {source.name}")
    with scratch(bench.cache) as work:
        lock, entries = _entries(bench, source, work)
        with (work / "layer.tar").open("w+b") as out:
            diff_id = write_layer(entries, out)
            size = out.tell()
            out.seek(0)
            with ExitStack() as stack:
                layers: list[tuple[BinaryIO, int]] = [(out, size)]
                ids = (diff_id,)
                if below is not None:
                    layers = [
                        *(stack.enter_context(archive.layer_of(below[1], layer)) for layer in below[0].layers),
                        *layers,
                    ]
                    ids = (*below[0].layers, diff_id)
                content = Content(ids, source.architecture, source.epoch)
                archive.write_archive(work / "archive.tar", source.name, content, layers)
        drift = lock != source.lock or (below is not None and below[0].image.drift)
        ref = ImageRef(name=source.name, id=content.id, lock=source.lock_digest, drift=drift)
        made = Made(image=ref, layers=ids)
        path = archive_path(bench.cache, content.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        (work / "archive.tar").replace(path)
    atomic_write(_memory(bench.cache, source), to_json(made))
    if source.published is not None and source.published.id != content.id and not drift:
        bench.report(
            f"image {source.name}: built {content.id}, but its lock gave {source.published.id} when it was made"
        )
    return made, path


def _entries(bench: Bench, source: Source, work: Path) -> tuple[Lock, Iterator[Entry]]:
    """The layer's entries and the lock that they really come from."""
    if source.base is not None:
        files = wheels.fetch(source.lock.wheels, source.architecture, bench.cache, work)
        return source.lock, wheels.entries(files, source.epoch, work)
    shop = HostWorkshop(work / "debian")
    chosen = packages.obtain(shop, source.recipe, source.lock.packages, bench.cache, work, bench.report)
    tar = packages.install(shop, source.recipe, chosen, bench.cache, work)
    return Lock(packages=chosen), rootfs.entries(tar, source.epoch)


@contextmanager
def scratch(cache: Path) -> Iterator[Path]:
    """A folder for one build, gone afterwards."""
    parent = cache / "scratch"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=parent))
        (folder / "debian").mkdir()
    except OSError as error:
        raise storage_error(parent, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def relock(name: str, *, cache: Path, images_dir: Path, report: Report) -> None:
    """Write a new lock from what the mirrors have now, and the identity that it gives."""
    wanted = recipe.load_recipe(images_dir, name)
    bench = Bench(cache, images_dir, report)
    with locked(cache):
        with scratch(cache) as work:
            if wanted.base is None:
                shop = HostWorkshop(work / "debian")
                lock = Lock(packages=packages.resolve(shop, wanted, cache, work))
            else:
                architecture = recipe.load(images_dir, wanted.base).architecture
                lock = Lock(wheels=wheels.resolve(wanted.wheels, architecture, cache, work))
        recipe.write(images_dir, name, lock, None)
        made, _ = _build(bench, recipe.load(images_dir, name))
    recipe.write(images_dir, name, lock, Published(id=made.image.id, layers=made.layers))
