"""Which blobs a stored record needs: what a verifier must check, and what a clean-up must keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from harness.evidence import AttemptRecord, ChangeManifest
from harness.records import BlobRef, from_json
from harness.store import Store
from harness.traffic import read_trace

WEB = "web"
_WRITTEN = re.compile(
    rb'\{"digest":"sha256:([0-9a-f]{64})","media_type":"([a-z0-9.+-]+/[a-z0-9.+-]+)","size":(0|[1-9][0-9]*)\}'
)


def blob_refs(record: BaseModel) -> Iterator[tuple[str, BlobRef]]:
    """Each blob that a record names itself, with the field that names it, such as ``solve.stdout``."""
    yield from _walk(record, "")


def attempt_blobs(store: Store, record: AttemptRecord) -> Iterator[tuple[str, BlobRef]]:
    """Each blob that an attempt needs, the contents of its change included. Blobs may repeat.

    Raises:
        VerifyError: the change manifest or the web trace is missing or damaged; what comes before it has been given
            by then.
    """
    yield from blob_refs(record)
    for number, trace in enumerate(record.traces):
        if trace.channel == WEB and trace.lines is not None:
            for line in read_trace(store, trace.lines):
                for path, ref in blob_refs(line):
                    yield f"traces[{number}].lines[{line.seq}].{path}", ref
    if record.capture is not None and record.capture.manifest is not None:
        where = f"blob {record.capture.manifest.digest}"
        manifest = from_json(ChangeManifest, store.get(record.capture.manifest.digest), where)
        for path, ref in blob_refs(manifest):
            yield f"capture.manifest.{path}", ref


def written_refs(data: bytes) -> list[tuple[bytes, bytes, bytes]] | None:
    """Each blob that canonical JSON names, without parsing it: the digest's hex, the media type, the size.

    A quote in a string is escaped, so what looks like a reference is one. None where one may be written in another way.
    """
    found: list[tuple[bytes, bytes, bytes]] = _WRITTEN.findall(data)
    return found if len(found) == data.count(b'"media_type"') else None


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
