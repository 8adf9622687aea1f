"""Raw readings as hash-chained JSON lines: each line carries the digest of the one before.

The chain makes an edited, dropped or reordered reading visible; the record keeps the head and the blob's digest.
Counter values are decimal strings because a GPU's lifetime microjoules outgrow what RFC 8785 numbers can hold.
"""

from __future__ import annotations

import threading
from typing import Annotated, NamedTuple

from pydantic import Field

from harness import digest
from harness.digest import Digest
from harness.energy.meter import Gap, Values
from harness.errors import VerifyError
from harness.records import BlobRef, Count, Grown, from_json, to_value

GENESIS = digest.sha256_bytes(b"trialbox energy readings v1")
MEDIA_TYPE = "application/x-ndjson"

Raw = Annotated[str, Field(pattern=r"^[0-9]{1,24}$")]


class Reading(Grown):
    """Every zone's raw value at one moment, and who had used how much of the processors by then."""

    later = frozenset({"cpu_us", "attempts_cpu_us", "host_cpu_us", "present"})

    seq: Count
    t_us: Count
    """Time since the window opened, sleep left out."""
    slept_us: int
    """How long the host has slept since the window opened."""
    values: dict[str, Raw]
    gaps: dict[str, Gap] = Field(default_factory=dict)
    prev: Digest
    cpu_us: Count | None = None
    """CPU time of this attempt; None where it can't be read."""
    attempts_cpu_us: Count | None = None
    """CPU time of all attempts of this session together, as far as it can be read; None where nobody looks."""
    host_cpu_us: Count | None = None
    """CPU time of the whole host since boot; None where it can't be read."""
    present: Count = 0
    """How many attempts ran since the reading before, this one included."""

    @property
    def digest(self) -> str:
        """The digest that the next reading carries."""
        return digest.digest(to_value(self))

    def value(self, zone: str) -> int | None:
        """The zone's raw value, None for a gap."""
        raw = self.values.get(zone)
        return None if raw is None else int(raw)


class Used(NamedTuple):
    """Who had used how much of the processors: the fields of the same names of a :class:`Reading`."""

    cpu_us: int | None
    attempts_cpu_us: int
    host_cpu_us: int | None
    present: int


class ReadingLog:
    """A growing chain of readings. Safe to append to from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = GENESIS
        self._readings: list[Reading] = []

    def append(
        self,
        t_us: int,
        slept_us: int,
        values: Values,
        used: Used | None = None,
    ) -> Reading:
        """Chain one more reading."""
        with self._lock:
            reading = Reading(
                seq=len(self._readings),
                t_us=t_us,
                slept_us=slept_us,
                values={name: str(value) for name, value in values.items() if not isinstance(value, Gap)},
                gaps={name: value for name, value in values.items() if isinstance(value, Gap)},
                prev=self._head,
                cpu_us=used.cpu_us if used else None,
                attempts_cpu_us=used.attempts_cpu_us if used else None,
                host_cpu_us=used.host_cpu_us if used else None,
                present=used.present if used else 0,
            )
            self._head = reading.digest
            self._readings.append(reading)
            return reading

    @property
    def readings(self) -> tuple[Reading, ...]:
        """All readings so far."""
        with self._lock:
            return tuple(self._readings)

    @property
    def head(self) -> str:
        """The last reading's digest."""
        return self._head

    def dump(self) -> bytes:
        """All readings, one canonical JSON line each."""
        return b"".join(digest.canonical(to_value(reading)) + b"\n" for reading in self.readings)


def blob_ref(data: bytes) -> BlobRef:
    """The reference under which the store will hold these readings."""
    return BlobRef(digest=digest.sha256_bytes(data), size=len(data), media_type=MEDIA_TYPE)


def load_chain(data: bytes, head: str) -> tuple[Reading, ...]:
    """Read a dumped chain back and check every link.

    Raises:
        VerifyError: a line is not a reading, is out of order, or does not follow from the one before.
    """
    expected = GENESIS
    readings = []
    for seq, line in enumerate(data.splitlines()):
        where = f"energy reading {seq}"
        reading = from_json(Reading, line, where)
        if reading.seq != seq or reading.prev != expected:
            raise VerifyError(where, "breaks the chain of readings", "the readings were changed after the run")
        expected = reading.digest
        readings.append(reading)
    if expected != head:
        raise VerifyError("energy readings", "do not end at the recorded head", "the readings were changed or cut")
    return tuple(readings)
