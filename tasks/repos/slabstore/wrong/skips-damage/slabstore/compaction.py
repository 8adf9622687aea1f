"""Several segments into one."""

from slabstore.record import Record
from slabstore.segment import Segment


def merged(older: list[Segment], segments: list[Segment]) -> list[Record]:
    """One record for each key, sorted by key. A tombstone stays while something in *older* needs it."""
    latest: dict[str, Record] = {}
    for segment in segments:
        for record in segment.records:
            latest[record.key] = record
    below = {record.key for segment in older for record in segment.records}
    return [latest[key] for key in sorted(latest) if latest[key].text is not None or key in below]
