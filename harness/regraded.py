"""What was graded again before, and gave what its card said: remembered so that it need not be graded once more."""

from __future__ import annotations

from pathlib import Path

from harness.errors import VerifyError
from harness.files import atomic_write, storage_error
from harness.records import from_json, to_json
from harness.regrading import Redone

MEMORY = "regraded"
"""The folder of a state folder's cache that remembers."""


class Memory:
    """Gradings in a folder, one file for each key (:func:`harness.regrading.key_of`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Redone | None:
        """What is remembered; a damaged file is nothing remembered."""
        try:
            return from_json(Redone, self._path(key).read_bytes())
        except (OSError, VerifyError):
            return None

    def keep(self, key: str, redone: Redone) -> None:
        """Remember it, without what it left in a store."""
        bare = redone
        if redone.grade is not None:
            bare = bare.model_copy(update={"grade": redone.grade.model_copy(update={"observations": None})})
        if redone.selecting is not None:
            bare = bare.model_copy(update={"selecting": redone.selecting.model_copy(update={"observations": None})})
        atomic_write(self._path(key), to_json(bare))

    def forget(self) -> int:
        """Remember nothing; how much it was.

        Raises:
            StorageError: the disk refuses.
        """
        count = 0
        try:
            for path in self._folder.glob("*.json"):
                path.unlink()
                count += 1
        except OSError as error:
            raise storage_error(self._folder, error) from error
        return count

    def _path(self, key: str) -> Path:
        return self._folder / f"{key.removeprefix('sha256:')}.json"
