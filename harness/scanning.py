"""The scanner of a run: a sealed container when one is needed, the ledger's memory when not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.ledger import CacheKind, Ledger
from harness.scan import Scanner
from harness.store import Store, is_whole

_SCAN_TYPE = "application/vnd.trialbox.scan+json"
_MEMORY_MB = 1024


class LedgerCache:
    """Answers of the scanner, kept from run to run."""

    def __init__(self, ledger: Ledger, store: Store) -> None:
        self._ledger = ledger
        self._store = store

    def get(self, key: str) -> bytes | None:
        """An answer that an earlier scan was given."""
        known = self._ledger.cached(CacheKind.SCAN, key)
        return self._store.get(known.digest) if known and is_whole(self._store, known.digest) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep an answer."""
        self._ledger.keep(CacheKind.SCAN, key, self._store.put(value, _SCAN_TYPE))


def open_scanner(engine: Engine, image: BuiltImage, store: Store, ledger: Ledger, owner: str) -> Scanner:
    """A scanner with the tools of the pinned scanner image. Safe to share between threads."""

    @contextmanager
    def container() -> Iterator[Sandbox]:
        spec = SandboxSpec(role=Role.SCANNER, image=image.handle, memory_mb=_MEMORY_MB, workdir="/tmp")  # noqa: S108
        with Sandbox(engine, spec, owner) as sandbox:
            yield sandbox

    return Scanner(container, image.ref.id, LedgerCache(ledger, store))
