"""The cache of images: archives by id, what each lock gave, and one builder at a time.

::

    lock                            held by the one process that builds
    scratch/                        its working folders; whatever a killed one left goes with the next lock
    debs/<sha256>.deb               Debian packages        } kept by digest and checked on use, so that a
    wheels/<sha256>/<file>.whl      wheels                 } second build needs no network
    made/<name>-<digest>.json      what a lock gave
    archives/<image id>.tar         docker-save archives
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.digest import digest
from harness.engine.images import archive
from harness.engine.images.archive import Content
from harness.engine.images.recipe import Source
from harness.errors import VerifyError
from harness.files import atomic_write, storage_error
from harness.records import ImageRef, Record, from_json, to_json


class Made(Record):
    """What a build from one lock gave."""

    image: ImageRef
    layers: tuple[str, ...]


def content(source: Source, made: Made) -> Content:
    """The identity behind an id."""
    return Content(made.layers, source.architecture, source.epoch)


@dataclass(frozen=True)
class Cache:
    """Where things are. ``images`` is ``root`` but for a build that must not see earlier images."""

    root: Path
    images: Path

    def archive(self, image_id: str) -> Path:
        """Where an image's archive is, or will be."""
        return self.images / "archives" / (image_id.removeprefix("sha256:") + ".tar")

    def remembered(self, source: Source) -> Made | None:
        """What this very lock gave before, or ``None``."""
        try:
            made = from_json(Made, self._memory(source).read_bytes())
        except (FileNotFoundError, VerifyError):
            return None
        return made if content(source, made).id == made.image.id else None

    def intact(self, source: Source) -> Made | None:
        """The same, where the archive is still there and, rehashed, still right.

        Raises:
            VerifyError: it is there and damaged.
        """
        made = self.remembered(source)
        if made is None or not self.archive(made.image.id).exists():
            return None
        archive.check_archive(self.archive(made.image.id), source.name, content(source, made))
        return made

    def keep(self, source: Source, made: Made, finished: Path) -> None:
        """Move a finished archive in and remember it: the archive first, so that a memory never lacks its archive."""
        path = self.archive(made.image.id)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            finished.replace(path)
        except OSError as error:
            raise storage_error(path, error) from error
        self.remember(source, made)

    def remember(self, source: Source, made: Made) -> None:
        """Note what a lock gave; the archive is in place already."""
        atomic_write(self._memory(source), to_json(made))

    def _memory(self, source: Source) -> Path:
        # The published id is in the key since it moves with the code that builds, and the lock alone does not.
        key = digest([source.lock_digest, source.published.id if source.published else None])
        return self.images / "made" / f"{source.name}-{key.removeprefix('sha256:')}.json"


@contextmanager
def building(root: Path, report: Callable[[str], None]) -> Iterator[int]:
    """Be the only builder, if need be after a wait; yields the lock's descriptor, which the tools of a build hold too.

    So if a builder is killed, the next one waits for the tools that it left running, and then removes their folders.

    Raises:
        InfraError: the folder can't be written.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise storage_error(root, error) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another build of images")
            fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(root / "scratch", ignore_errors=True)
        yield lock
    finally:
        os.close(lock)


@contextmanager
def scratch(root: Path) -> Iterator[Path]:
    """A folder for one build, gone afterwards.

    Raises:
        InfraError: the disk is full, or another failure to write.
    """
    parent = root / "scratch"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=parent))
        folder.chmod(0o755)  # apt's own user must be able to look in
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise storage_error(parent, error) from error
