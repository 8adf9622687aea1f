"""Small results that are a function of their key: kept in a folder, and safe to lose."""

from __future__ import annotations

from pathlib import Path

from harness.digest import digest
from harness.files import atomic_write


class FolderCache:
    """Values by a JSON key, one file each. A damaged or absent file is a miss."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def _path(self, kind: str, key: list[str]) -> Path:
        return self._root / kind / digest(key).removeprefix("sha256:")

    def get(self, kind: str, key: list[str]) -> bytes | None:
        """What was kept under this key."""
        try:
            return self._path(kind, key).read_bytes()
        except OSError:
            return None

    def put(self, kind: str, key: list[str], value: bytes) -> None:
        """Keep *value*, replacing what was there."""
        atomic_write(self._path(kind, key), value)
