"""The blobs behind a card, each read once: what is missing, changed, or not what it is for, and who needs it."""

from __future__ import annotations

from harness.errors import VerifyError
from harness.evidence import AttemptRecord
from harness.records import BlobRef, from_json
from harness.references import attempt_blobs, blob_refs
from harness.store import Store
from scoring.evidence import TryEvidence


class Blobs:
    """Reads each blob once and keeps the first complaint about each."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.whole: set[str] = set()
        self._broken: dict[str, str] = {}

    @property
    def problems(self) -> list[str]:
        """One line for each missing or changed blob."""
        return list(self._broken.values())

    def read(self, ref: BlobRef, needed_by: str) -> bytes | None:
        """The blob's bytes if they are whole."""
        if ref.digest in self._broken:
            return None
        try:
            data = self.store.get(ref.digest)
        except VerifyError as error:
            self._broken[ref.digest] = f"{error.where} ({ref.media_type}, {needed_by}) {error.problem}"
            return None
        self.whole.add(ref.digest)
        if len(data) != ref.size:
            self._broken[ref.digest] = f"blob {ref.digest} ({needed_by}) has {len(data)} bytes, {ref.size} are stated"
        return data

    def complain(self, ref: BlobRef, line: str) -> None:
        """Note another fault of a blob."""
        self._broken.setdefault(ref.digest, line)

    def check(self, ref: BlobRef, needed_by: str) -> None:
        """Read a blob for its integrity alone; once is enough."""
        if ref.digest not in self.whole:
            self.read(ref, needed_by)


def read_record(one: TryEvidence, blobs: Blobs) -> AttemptRecord | None:
    """The record that a try left, if it is whole; each blob that it needs is checked too."""
    who = f"{one.cell.key} try {one.attempt_try}"
    data = None if one.record is None else blobs.read(one.record, f"record of {who}")
    if one.record is None or data is None:
        return None
    try:
        record = from_json(AttemptRecord, data)
    except VerifyError as error:
        blobs.complain(one.record, f"blob {one.record.digest} (record of {who}) {error.problem}")
        return None
    _check_parts(record, who, blobs)
    return record


def _check_parts(record: AttemptRecord, who: str, blobs: Blobs) -> None:
    try:
        for field, ref in attempt_blobs(blobs.store, record):
            blobs.check(ref, f"{field} of {who}")
    except (
        VerifyError
    ) as error:  # a damaged one has been complained of by now; this one is whole, and not what it is for
        for field, ref in blob_refs(record):
            if ref.digest in error.where:
                blobs.complain(ref, f"{error.where} ({field} of {who}) {error.problem}")
