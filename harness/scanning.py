"""Scan evidence for an attempt: a sealed scanner container when it is needed, the ledger's memory when not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.change import FILE_TYPE
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.ledger import CacheKind, Ledger
from harness.records import BlobRef
from harness.scan.records import ScanRecord
from harness.scan.scan import FileChange, scan_change
from harness.store import Store
from harness.suites.tree import LINK, Entry, Tree

_SCAN_TYPE = "application/vnd.trialbox.scan+json"
_MEMORY_MB = 1024


@dataclass(frozen=True)
class Scanner:
    """Scans changes with the tools of the pinned scanner image. Safe to share between threads."""

    engine: Engine
    image: BuiltImage
    store: Store
    ledger: Ledger
    owner: str

    def scan(self, before: Tree, after: Tree) -> ScanRecord:
        """What the tools say of every file that differs.

        Raises:
            InfraError: the engine or the scanner failed; nothing is said about the candidate.
        """
        changes = [
            FileChange(path=path, before=self._blob(before.get(path)), after=self._blob(after.get(path)))
            for path in sorted(before.keys() | after.keys(), key=str.encode)
            if before.get(path) != after.get(path)
        ]
        return scan_change(
            changes, read=self.store.get, container=self._container, image=self.image.ref.id, cache=self
        )

    def get(self, key: str) -> bytes | None:
        """An answer that an earlier scan was given."""
        known = self.ledger.cached(CacheKind.SCAN, key)
        return self.store.get(known.digest) if known and self.store.has(known.digest) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep an answer."""
        self.ledger.keep(CacheKind.SCAN, key, self.store.put(value, _SCAN_TYPE))

    def _blob(self, entry: Entry | None) -> BlobRef | None:
        return None if entry is None or entry.mode == LINK else self.store.put(entry.data, FILE_TYPE)

    @contextmanager
    def _container(self) -> Iterator[Sandbox]:
        spec = SandboxSpec(role=Role.SCANNER, image=self.image.handle, memory_mb=_MEMORY_MB, workdir="/tmp")  # noqa: S108
        with Sandbox(self.engine, spec, self.owner) as sandbox:
            yield sandbox
