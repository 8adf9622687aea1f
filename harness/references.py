"""Which blobs a stored record needs: what a verifier must check, and what a clean-up must keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from harness.evidence import AttemptRecord, ChangeManifest
from harness.records import BlobRef, from_json
from harness.store import Store


def blob_refs(record: BaseModel) -> Iterator[tuple[str, BlobRef]]:
    """Each blob that a record names itself, with the field that names it, such as ``solve.stdout``."""
    yield from _walk(record, "")


def attempt_blobs(store: Store, record: AttemptRecord) -> Iterator[tuple[str, BlobRef]]:
    """Each blob that an attempt needs, the contents of its change included. Blobs may repeat.

    Raises:
        VerifyError: the change manifest is missing or damaged; what comes before it has been given by then.
    """
    yield from blob_refs(record)
    if record.capture is not None and record.capture.manifest is not None:
        where = f"blob {record.capture.manifest.digest}"
        manifest = from_json(ChangeManifest, store.get(record.capture.manifest.digest), where)
        for path, ref in blob_refs(manifest):
            yield f"capture.manifest.{path}", ref


def _walk(value: Any, path: str) -> Iterator[tuple[str, BlobRef]]:
    if isinstance(value, BlobRef):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _walk(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _walk(item, f"{path}.{name}")
