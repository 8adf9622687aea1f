"""What the rest of the product asks of bundles: have one, list them, verify that they reproduce, lock them anew.

::

    bundles/made/<name>-<digest>.json   what a lock gave
    bundles/<digest>/                   the folder that is mounted; shared by all processes, never written again

They lie in the image cache and are built under its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker

from harness.bundles import recipe
from harness.bundles.builder import Maker
from harness.bundles.recipe import FOLDER, BundleSource, PublishedBundle
from harness.bundles.tree import measure, stamp
from harness.digest import Digest
from harness.engine.images import ensure as ensure_image
from harness.engine.images.cache import building, scratch
from harness.engine.images.recipe import Lock
from harness.engine.images.workshop import sweep
from harness.errors import VerifyError
from harness.files import atomic_write, storage_error
from harness.records import Count, Record, from_json, to_json, to_value

Report = Callable[[str], None]


class MadeBundle(Record):
    """What a build from one lock gave. ``stamp`` changes with any later write to the folder."""

    digest: Digest
    lock: Digest
    files: Count
    bytes: Count
    drift: bool
    stamp: Digest


@dataclass(frozen=True)
class Bundle:
    """An agent's folder on this host, to be mounted read-only."""

    name: str
    path: Path
    digest: str
    lock: str
    files: int
    bytes: int
    drift: bool


@dataclass(frozen=True)
class ListedBundle:
    """A bundle with a recipe: its published digest (None before the first lock), and whether it is on this host."""

    name: str
    id: str | None
    lock: str
    path: Path | None


@dataclass(frozen=True)
class VerifiedBundle:
    """Two builds from nothing but what the locks name. ``matches_lock``: both gave the published digest."""

    name: str
    first: str
    second: str
    same: bool
    matches_lock: bool


def ensure(
    api: docker.APIClient,
    name: str,
    *,
    cache: Path,
    images_dir: Path,
    report: Report,
    builder: str | None = None,
) -> Bundle:
    """Have a bundle on this host: it is there and untouched, or it is built.

    Args:
        api: the engine, in which Python's bytecode is made.
        name: a folder below ``agents``.
        cache: the cache of images.
        images_dir: the folder of recipes and locks.
        report: hears one line for each thing that a user should know.
        builder: a Debian-family image of the engine to fetch Debian packages in; None is this host.

    Raises:
        UserError: no such bundle, or a bad recipe or lock.
        InfraError: something locked can't be had, or the host or engine refused.
    """
    source = recipe.load(images_dir, name)
    found = _intact(cache, source)
    if found is None:
        with _maker(api, cache, images_dir, report, builder) as maker:
            found = _intact(cache, source) or _keep(maker, source)
    if found.drift:
        report(f"IMAGE DRIFT: agents/{name} was built from other versions than its lock's")
    return found


def build(
    api: docker.APIClient, name: str, *, cache: Path, images_dir: Path, report: Report, builder: str | None = None
) -> Bundle:
    """Build a bundle, whether it is there or not. Raises as ensure."""
    source = recipe.load(images_dir, name)
    with _maker(api, cache, images_dir, report, builder) as maker:
        return _keep(maker, source)


def verify(
    api: docker.APIClient,
    names: Sequence[str],
    *,
    cache: Path,
    images_dir: Path,
    report: Report,
    builder: str | None = None,
) -> list[VerifiedBundle]:
    """Build each twice from nothing but what its locks name; what is on this host is read whole as well.

    Raises:
        VerifyError: the bundle on this host is not what it was when it was built.
        UserError, InfraError: as ensure.
    """
    verified = []
    for source in [recipe.load(images_dir, name) for name in names]:
        with _maker(api, cache, images_dir, report, builder) as maker:
            made = _remembered(cache, source)
            if made is not None and _folder(cache, made.digest).is_dir():
                path = _folder(cache, made.digest)
                if measure(path).digest != made.digest:
                    raise VerifyError(
                        str(path), "was changed since it was built", f"build agents/{source.name} --again"
                    )
            first, second = (_once(maker, source) for _ in range(2))
        published = source.published.digest if source.published else None
        same = first == second
        verified.append(VerifiedBundle(_full(source), first, second, same, same and first == published))
    return verified


def list_bundles(cache: Path, images_dir: Path) -> list[ListedBundle]:
    """All bundles that have a recipe."""
    listed = []
    for name in recipe.names(images_dir):
        source = recipe.load(images_dir, name)
        found = _intact(cache, source)
        published = source.published.digest if source.published else None
        listed.append(ListedBundle(_full(source), published, source.lock_digest, found.path if found else None))
    return listed


def relock(
    api: docker.APIClient, name: str, *, cache: Path, images_dir: Path, report: Report, builder: str | None = None
) -> Bundle:
    """Write new locks from what there is now, build from them, and publish the digest. Raises as ensure."""
    folder = images_dir / FOLDER / name
    wanted = recipe.load_recipe(images_dir, name)
    with _maker(api, cache, images_dir, report, builder) as maker:
        parts, lock = recipe.load_parts(images_dir)
        with scratch(cache) as work:
            if wanted.npm:
                atomic_write(folder / "package-lock.json", maker.npm(parts, lock, work).lock(folder, work))
            if wanted.wheels:
                recipe.write_lock(folder / "lock.json", Lock(wheels=maker.wheels(wanted.wheels, parts, work)))
        source = recipe.load(images_dir, name)
        made = _keep(maker, source)
        recipe.publish(source, PublishedBundle(digest=made.digest, lock=made.lock, files=made.files, bytes=made.bytes))
    return made


def relock_parts(
    api: docker.APIClient, *, cache: Path, images_dir: Path, report: Report, builder: str | None = None
) -> None:
    """Write a new lock of node and Python; every bundle that has one of them must be locked anew afterwards."""
    with _maker(api, cache, images_dir, report, builder) as maker, scratch(cache) as work:
        recipe.write_lock(images_dir / FOLDER / recipe.PARTS_LOCK, maker.parts(recipe.read_parts(images_dir), work))


@contextmanager
def _maker(
    api: docker.APIClient, cache: Path, images_dir: Path, report: Report, builder: str | None
) -> Iterator[Maker]:
    base = ensure_image(api, "base", cache=cache, images_dir=images_dir, report=report, builder=builder)
    with building(cache, report) as lock:
        sweep(api, cache)
        yield Maker(api, base.handle, cache, lock, report, builder)


def _keep(maker: Maker, source: BundleSource) -> Bundle:
    """Build a bundle and move it in: the folder first, so that a memory never lacks its folder."""
    with scratch(maker.cache) as work:
        measured, drift = maker.make(source, work / "tree", work)
        path = _folder(maker.cache, measured.digest)
        try:
            if path.is_dir() and measure(path).digest != measured.digest:
                path.rename(work / "former")  # changed since it was built
            if not path.is_dir():  # else it may be mounted somewhere, and is the same
                path.parent.mkdir(parents=True, exist_ok=True)
                (work / "tree").rename(path)
        except OSError as error:
            raise storage_error(path, error) from error
    made = MadeBundle(
        digest=measured.digest,
        lock=source.lock_digest,
        files=measured.files,
        bytes=measured.bytes,
        drift=drift,
        stamp=stamp(path),
    )
    atomic_write(_memory(maker.cache, source), to_json(made))
    if source.published is not None and source.published.digest != measured.digest and not drift:
        maker.report(f"{_full(source)}: built as {measured.digest}, but published as {source.published.digest}")
    return _bundle(maker.cache, source, made)


def _once(maker: Maker, source: BundleSource) -> str:
    with scratch(maker.cache) as work:
        measured, _ = maker.make(source, work / "tree", work)
        return measured.digest


def _intact(cache: Path, source: BundleSource) -> Bundle | None:
    """The bundle that this very lock gave, if nothing was written to its folder since."""
    made = _remembered(cache, source)
    if made is None:
        return None
    path = _folder(cache, made.digest)
    return _bundle(cache, source, made) if path.is_dir() and stamp(path) == made.stamp else None


def _remembered(cache: Path, source: BundleSource) -> MadeBundle | None:
    try:
        return from_json(MadeBundle, _memory(cache, source).read_bytes())
    except (FileNotFoundError, VerifyError):
        return None


def _bundle(cache: Path, source: BundleSource, made: MadeBundle) -> Bundle:
    value = to_value(made)
    del value["stamp"]
    return Bundle(name=source.name, path=_folder(cache, made.digest), **value)


def _memory(cache: Path, source: BundleSource) -> Path:
    return cache / "bundles/made" / f"{source.name}-{source.lock_digest.removeprefix('sha256:')}.json"


def _folder(cache: Path, digest: str) -> Path:
    return cache / "bundles" / digest.removeprefix("sha256:")


def _full(source: BundleSource) -> str:
    return f"{FOLDER}/{source.name}"
