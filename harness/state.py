"""The state folder: where a user's ledger, blobs, cards, reports and caches live, and who may write there now."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.digest import digest
from harness.errors import StorageError, UserError
from harness.files import atomic_write, storage_error

HOME_VARIABLE = "TRIALBOX_HOME"
FOLDER = ".trialbox"
MIN_FREE_BYTES = 32 << 20
"""A run that starts with less would end in the middle."""


@dataclass(frozen=True)
class State:
    """A state folder; nothing is created before :meth:`prepare`."""

    root: Path

    @property
    def ledger(self) -> Path:
        """The SQLite file of runs, cells and tries."""
        return self.root / "ledger.db"

    @property
    def blobs(self) -> Path:
        """The store's folder; blobs are under ``sha256/`` in it."""
        return self.root / "blobs"

    @property
    def cards(self) -> Path:
        """One file ``<64 hex>.json`` a card."""
        return self.root / "cards"

    @property
    def reports(self) -> Path:
        """Rendered reports."""
        return self.root / "reports"

    @property
    def cache(self) -> Path:
        """What can be made again: image archives, idle calibrations."""
        return self.root / "cache"

    @property
    def lock_file(self) -> Path:
        """Held by the one command that writes."""
        return self.root / "lock"

    @property
    def owner(self) -> str:
        """Whose containers and volumes these are: 32 hex digits from this host and this folder's path.

        It goes on engine objects as a label, so that a leftover of this folder is known, and never one of another
        folder or of another host at the same engine.
        """
        host = [_text(Path("/etc/machine-id")), platform.node()]
        return digest({"host": host, "path": os.fsencode(self.root.absolute()).hex()}).removeprefix("sha256:")[:32]

    def prepare(self) -> None:
        """Create the folders and prove that they can be written to.

        Raises:
            StorageError: read-only, full, or nearly full.
        """
        probe = self.root / ".probe"
        try:
            for folder in (self.blobs, self.cards, self.reports, self.cache):
                folder.mkdir(parents=True, exist_ok=True)
            atomic_write(probe, b"probe" * 1000)
            probe.unlink()
            free = shutil.disk_usage(self.root).free
        except OSError as error:
            raise storage_error(self.root, error) from error
        if free < MIN_FREE_BYTES:
            raise StorageError(
                str(self.root),
                f"the disk is full: {free >> 20} MiB are free, a run needs {MIN_FREE_BYTES >> 20}",
                "free some space (`trialbox gc` may help) or use a larger disk",
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one command. The kernel frees it when the process ends, however it ends.

        Raises:
            UserError: another process holds it.
            StorageError: the lock file can't be made.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = self.lock_file.open("a+")
        except OSError as error:
            raise storage_error(self.root, error) from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.seek(0)
                holder = handle.read(20).strip() or "unknown"
                raise UserError(
                    str(self.root),
                    f"another trialbox (process {holder}) is using this state folder",
                    f"wait for it to end, or set {HOME_VARIABLE} to another folder",
                ) from None
            with suppress(OSError):  # the process number is a courtesy; on a full disk the lock alone must do
                handle.truncate(0)
                handle.write(f"{os.getpid()}\n")
                handle.flush()
            yield


def find_state(environ: Mapping[str, str], cwd: Path) -> State:
    """The state folder that the environment names, else ``.trialbox`` of the current folder.

    Raises:
        UserError: a file is in its place.
    """
    named = environ.get(HOME_VARIABLE)
    root = (cwd / Path(named).expanduser()) if named else cwd / FOLDER
    there = next(path for path in (root, *root.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise UserError(str(root), f"can't be the state folder: {there} is no folder", f"set {HOME_VARIABLE} to one")
    return State(root)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
