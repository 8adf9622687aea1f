"""What the rest of the product asks of images: have one, list them, verify that they reproduce, lock them anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import docker

from harness.engine.images import archive, recipe
from harness.engine.images.builder import Builder, only_builder
from harness.engine.images.cache import Cache, Made, content, scratch
from harness.engine.images.recipe import Lock, Published, Source, Wanted
from harness.program import Program
from harness.records import ImageRef


@dataclass(frozen=True)
class BuiltImage:
    """An image in the engine.

    ``handle`` is the engine's id: good for creating containers there, never for identity. ``archive`` is where the
    docker-save file is or would be, ``size`` its bytes (``None`` where the cache no longer has it).
    """

    ref: ImageRef
    handle: str
    archive: Path
    size: int | None


@dataclass(frozen=True)
class VerifyResult:
    """Two builds of one image from nothing. ``matches_lock``: both gave the published id, from the locked files."""

    name: str
    first: str
    second: str
    same: bool
    matches_lock: bool


@dataclass(frozen=True)
class ListedImage:
    """An image with a recipe: its published id (``None`` before the first lock) and whether the engine has it."""

    name: str
    id: str | None
    lock: str
    handle: str | None


def ensure(
    api: docker.APIClient,
    wanted: Wanted,
    *,
    cache: Path,
    images_dir: Path,
    report: Callable[[str], None],
    builder: str | None = None,
) -> BuiltImage:
    """Have an image in the engine: it is there already, or loaded from the cache, or built.

    Args:
        wanted: the name of a folder in *images_dir*, or a program.
        cache: the folder for archives, packages and wheels; made when missing.
        images_dir: the folder of recipes and locks.
        report: hears one line for each thing that a user should know.
        builder: a Debian-family image of the engine to build in; ``None`` builds on this host.

    Raises:
        UserError: no such image, a bad recipe or lock, an unknown builder image.
        InfraError: no tools, no packages, no space, or an engine that refuses.
        VerifyError: the engine made something else of our archive.
    """
    source = recipe.load(images_dir, wanted)
    store = Cache(cache, cache)
    for made in (_published(source), store.remembered(source)):
        handle = archive.find(api, source.name, content(source, made)) if made else None
        if made is not None and handle is not None:
            if made.image.drift:
                report(f"IMAGE DRIFT: image {source.name} was built from other versions than its lock's")
            return _built(cache, made, handle)
    return build(api, wanted, cache=cache, images_dir=images_dir, report=report, builder=builder, again=False)


def build(
    api: docker.APIClient,
    wanted: Wanted,
    *,
    cache: Path,
    images_dir: Path,
    report: Callable[[str], None],
    builder: str | None = None,
    again: bool = True,
) -> BuiltImage:
    """Build an image and load it; ``again=False`` takes a whole archive from the cache instead. Raises as ensure."""
    source = recipe.load(images_dir, wanted)
    with only_builder(api, cache, report, builder) as maker:
        made = maker.build(source) if again else maker.make(source)
        handle = maker.load(source, made)
    return _built(cache, made, handle)


def verify(
    api: docker.APIClient,
    names: Sequence[Wanted],
    *,
    cache: Path,
    images_dir: Path,
    report: Callable[[str], None],
    builder: str | None = None,
) -> list[VerifyResult]:
    """Build each image twice from nothing but the packages and wheels that its lock names. Raises as ensure."""
    sources = [recipe.load(images_dir, name) for name in names]
    rounds: list[dict[str, Made]] = []
    with only_builder(api, cache, report, builder) as first:
        for _ in range(2):
            with scratch(cache) as images:
                maker = replace(first, cache=Cache(cache, images))
                rounds.append({source.name: maker.make(source) for source in sources})
    return [_verdict(source, *(done[source.name] for done in rounds)) for source in sources]


def list_images(
    api: docker.APIClient | None, *, images_dir: Path, programs: Iterable[Program] = ()
) -> list[ListedImage]:
    """All images that have a recipe, and those of *programs*; without an engine no handle is looked up."""
    listed = []
    everything: tuple[Wanted, ...] = (*recipe.names(images_dir), *programs)
    for wanted in everything:
        source = recipe.load(images_dir, wanted)
        made = _published(source)
        handle = archive.find(api, source.name, content(source, made)) if api is not None and made is not None else None
        listed.append(ListedImage(source.name, made.image.id if made else None, source.lock_digest, handle))
    return listed


def relock(
    api: docker.APIClient,
    wanted: Wanted,
    *,
    cache: Path,
    images_dir: Path,
    report: Callable[[str], None],
    builder: str | None = None,
) -> BuiltImage:
    """Write a new lock from what the mirrors have now, build from it, and publish the id that it gives.

    A program has no lock of its own: its image is built from its source and the locks as they are, and published.

    An image that stands on this one must be locked anew afterwards. Raises as ensure; then the old lock stays.
    """
    with only_builder(api, cache, report, builder) as maker:
        source = _renewed(maker, images_dir, wanted)
        made = maker.build(source)
        handle = maker.load(source, made)
        published = Published(id=made.image.id, layers=made.layers, lock=source.lock_digest)
        if source.compiled is not None:
            recipe.publish(source.compiled.program.published, published)
        else:
            recipe.write(images_dir, source.name, source.lock, published)
        maker.cache.remember(replace(source, published=published), made)
    return _built(cache, made, handle)


def _renewed(maker: Builder, images_dir: Path, wanted: Wanted) -> Source:
    """An image's source with a lock of what there is now. A program's locks are those of other images."""
    if isinstance(wanted, Program):
        return replace(recipe.load(images_dir, wanted), published=None)
    text = recipe.load_recipe(images_dir, wanted)
    below = recipe.load(images_dir, text.base) if text.base else None
    source = Source(wanted, text, Lock(), recipe.lock_digest(text, Lock(), below), below, None)
    lock = maker.resolve(source)
    return replace(source, lock=lock, lock_digest=recipe.lock_digest(text, lock, below))


def _published(source: Source) -> Made | None:
    """What the lock gave when it was made, unless an image was something else then."""
    if source.published is None:
        return None
    ref = ImageRef(name=source.name, id=source.published.id, lock=source.lock_digest)
    made = Made(image=ref, layers=source.published.layers)
    return made if content(source, made).id == made.image.id else None


def _built(cache: Path, made: Made, handle: str) -> BuiltImage:
    path = Cache(cache, cache).archive(made.image.id)
    return BuiltImage(made.image, handle, path, path.stat().st_size if path.exists() else None)


def _verdict(source: Source, first: Made, second: Made) -> VerifyResult:
    same = first == second
    published = source.published.id if source.published else None
    matches = same and first.image.id == published and not first.image.drift
    return VerifyResult(source.name, first.image.id, second.image.id, same, matches)
