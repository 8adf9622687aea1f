"""Several segments into one."""

from slabstore.record import Record
from slabstore.segment import Segment


def merged(older: list[Segment], segments: list[Segment]) -> list[Record]:
    """One record for each key, sorted by key. A tombstone stays while something in *older* needs it."""
    live: dict[str, str] = {}
    below: set[str] = set()
    for segment in older:
        for record in segment.records:
            record.apply(live)
            below.update(record.keys)
    touched: set[str] = set()
    for segment in segments:
        for record in segment.records:
            if record.renamed is None or record.key in live:
                touched.update(record.keys)
            record.apply(live)
    return [Record(key, live.get(key)) for key in sorted(touched) if key in live or key in below]
