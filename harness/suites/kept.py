"""Versions of a suite that stay runnable: ``kept_versions/VERSION.tar.xz`` in its folder, written when one is locked.

What comes out of such a file is taken only if it has the hash that the suite's lock has under that version.
"""

from __future__ import annotations

import lzma
import shutil
import tempfile
from pathlib import Path

from harness.digest import sha256_bytes
from harness.errors import UserError
from harness.files import atomic_write, storage_error
from harness.oci.trees import MAX_TREE, lay_out, pack_tree, unpack_tree
from harness.releases import Releases
from harness.suites.hashing import GRADER_VERSION, ScoreBasis, suite_ref
from harness.suites.load import SUITE_FILE, load_suite, read_suite_file
from harness.suites.lock import LOCK_FILE, lock_in
from harness.suites.parse import read_bytes
from harness.suites.task import Suite
from harness.suites.tree import REGULAR, Entry, Tree, read_tree

FOLDER = "kept_versions"
"""No task's id has an underscore."""
_SUFFIX = ".tar.xz"
_AGAIN = "put it back as it was committed"


def keep(suite: Suite) -> Path:
    """Keep the suite as it is on disk, which has just been locked, under its version.

    Raises:
        UserError: a file can't be read.
        StorageError: it can't be written.
    """
    files = [Entry(name, REGULAR, read_bytes(suite.folder / name)) for name in (SUITE_FILE, LOCK_FILE)]
    for task_id in suite.spec.tasks:
        tree = read_tree(suite.folder / task_id)
        files += [Entry(f"{task_id}/{path}", entry.mode, entry.data) for path, entry in tree.items()]
    place, data = suite.folder / FOLDER / f"{suite.version}{_SUFFIX}", pack_tree(Tree(files))
    if not place.exists() or _tar(place) != data:  # another library's compression is no change
        atomic_write(place, lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    return place


def kept_versions(folder: Path) -> tuple[str, ...]:
    """The versions that are kept in a suite's folder, oldest first."""
    found = [one.name.removesuffix(_SUFFIX) for one in (folder / FOLDER).glob(f"*{_SUFFIX}")]
    return tuple(sorted(found, key=lambda one: [int(part) if part.isdigit() else -1 for part in one.split(".")]))


def without_kept(tree: Tree) -> Tree:
    """A suite's folder without the versions that are kept in it."""
    return Tree(entry for path, entry in tree.items() if not path.startswith(f"{FOLDER}/"))


def version_folder(folder: Path, version: str, cache: Path, releases: Releases) -> Path:
    """The folder of a version of the suite in *folder*: the same one if it is the current version, else under *cache*.

    Raises:
        UserError: it was never locked or is not kept; what is kept is damaged, or is not what was locked.
        InfraError: a release can't be fetched, or the disk failed.
    """
    spec = read_suite_file(folder)
    if spec.version == version:
        return folder
    where = f"suite {spec.name}@{version}"
    known = f"current: {spec.version}; kept: {', '.join(kept_versions(folder)) or 'none'}"
    lock = lock_in(folder)
    if lock is None or version not in lock.history:
        raise UserError(where, "is no version that was locked", known)
    place = folder / FOLDER / f"{version}{_SUFFIX}"
    if not place.is_file():
        raise UserError(where, f"was locked, but there is no {FOLDER}/{place.name}", known)
    data = _tar(place)
    out = cache / sha256_bytes(data)[7:23] / f"{spec.name}@{version}"
    _lay_out(unpack_tree(data, str(place), _AGAIN), out)
    _hold(out, lock.history[version], place, releases)
    return out


def _hold(folder: Path, wanted: str, place: Path, releases: Releases) -> None:
    """Hold what was unpacked against the hash of the suite's lock, by the images and the platform of its own time."""
    suite, lock = load_suite(folder, releases=releases), lock_in(folder)
    if lock is None:
        raise UserError(str(place), f"holds no {LOCK_FILE}", _AGAIN)
    if lock.grader != GRADER_VERSION:
        problem = f"is of grader {lock.grader}, and this is grader {GRADER_VERSION}, which may judge otherwise"
        raise UserError(str(place), problem, "run it with the trialbox of its time")
    found = suite_ref(suite, ScoreBasis(lock.images, lock.platform))
    if found.hash != wanted:
        problem = f"has the hash {found.hash[:19]}, {LOCK_FILE} has {wanted[:19]} under its version"
        raise UserError(str(place), problem, _AGAIN)


def _tar(place: Path) -> bytes:
    """The archive without its compression, however large somebody made it."""
    reader = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    try:
        data = reader.decompress(read_bytes(place), MAX_TREE)
    except lzma.LZMAError as error:
        raise UserError(str(place), "is no xz file", _AGAIN) from error
    if not reader.eof:
        raise UserError(str(place), "is cut off, or too large", _AGAIN)
    return data


def _lay_out(tree: Tree, out: Path) -> None:
    """Have the tree at *out*, whole and unchanged, whoever else does the same at the same time."""
    if out.is_dir() and read_tree(out) == tree:
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".new-") as made:
            lay_out(tree, Path(made) / out.name)
            if out.exists():
                shutil.rmtree(out)
            (Path(made) / out.name).rename(out)
    except OSError as error:
        if out.is_dir() and read_tree(out) == tree:  # another process was quicker
            return
        raise storage_error(out, error) from error
