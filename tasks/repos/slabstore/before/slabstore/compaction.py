"""Several segments into one."""

from slabstore.record import Record
from slabstore.segment import Segment


def merged(segments: list[Segment]) -> list[Record]:
    """One record for each key that is still there, sorted by key."""
    latest: dict[str, Record] = {}
    for segment in segments:
        for record in segment.records:
            latest[record.key] = record
    return [latest[key] for key in sorted(latest) if latest[key].text is not None]
