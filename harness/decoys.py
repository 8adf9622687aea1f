"""What an attempt's record says of the decoys in its container: their paths and tokens (harness/honey.py lays them
out)."""

from __future__ import annotations

from harness.records import Record

HONEY = "honey"
"""The channel of the record; it is no trace, and has no coverage to speak of."""
DECOYS_TYPE = "application/vnd.trialbox.decoys+json"


class Decoy(Record):
    """One decoy: its path in the container, and the 32 hexadecimal digits in it."""

    path: str
    token: str


class Decoys(Record):
    """All of one attempt's."""

    decoys: tuple[Decoy, ...]
