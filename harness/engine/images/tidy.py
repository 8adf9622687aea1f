"""What the image cache can do without: archives that nothing here names any more. Packages and wheels stay."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Collection
from pathlib import Path

from harness.engine.images import recipe
from harness.engine.images.cache import Cache, Made
from harness.errors import VerifyError
from harness.files import storage_error
from harness.program import Program
from harness.records import from_json


def tidy(
    cache: Path, images_dir: Path, needed: Collection[str], programs: Collection[Program] = ()
) -> tuple[int, int] | None:
    """Remove the archives, and the notes of what a lock gave, of images that are superseded.

    Kept is what an ``image.json`` names, what the locks as they are now gave, *needed*, and every image with drift.
    What goes can be built again from its lock; the cache serves other checkouts too, so this is done on request only.

    Args:
        needed: ids of further images to keep.
        programs: whose images are kept as those with a folder are.

    Returns:
        How many files and bytes went; None if images are being built, and nothing was touched.

    Raises:
        UserError: a recipe or lock can't be read.
        InfraError: the cache can't be written.
    """
    if not (cache / "lock").exists():
        return 0, 0
    return while_idle(cache, lambda: _remove(cache, {*needed, *_current(cache, images_dir, programs)}))


def while_idle(cache: Path, remove: Callable[[], tuple[int, int]]) -> tuple[int, int] | None:
    """What *remove* took, done under the lock of all who build; None if somebody is building.

    Raises:
        InfraError: the cache can't be written.
    """
    try:
        lock = os.open(cache / "lock", os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return remove()
        except BlockingIOError:
            return None
        finally:
            os.close(lock)
    except OSError as error:
        raise storage_error(cache, error) from error


def _current(cache: Path, images_dir: Path, programs: Collection[Program]) -> set[str]:
    found: set[str] = set()
    everything: tuple[recipe.Wanted, ...] = (*recipe.names(images_dir), *programs)
    for wanted in everything:
        source = recipe.load(images_dir, wanted)
        made = Cache(cache, cache).remembered(source)
        found |= {source.published.id} if source.published else set()
        found |= {made.image.id} if made else set()
    return found


def _remove(cache: Path, keep: set[str]) -> tuple[int, int]:
    notes: dict[Path, str] = {}
    for path in (cache / "made").glob("*.json"):
        try:
            image = from_json(Made, path.read_bytes()).image
        except VerifyError:
            continue
        notes[path] = image.id
        if image.drift:  # from versions that no lock names, so perhaps never to be had again
            keep.add(image.id)
    # the notes first, so that none ever lacks its archive
    stale = [path for path, image_id in notes.items() if image_id not in keep]
    stale += [path for path in (cache / "archives").glob("*.tar") if f"sha256:{path.stem}" not in keep]
    freed = sum(path.stat().st_size for path in stale)
    for path in stale:
        path.unlink()
    return len(stale), freed
