"""The store."""

from pathlib import Path

from slabstore.compaction import merged
from slabstore.errors import RefusedError
from slabstore.record import Record
from slabstore.segment import LEFTOVER, append, create, load_all, mend, segment_path


class Store:
    """A store in a folder, which is made if it isn't there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._segments = load_all(folder)
        for leftover in folder.glob("*" + LEFTOVER):
            leftover.unlink()
        if self._segments:
            mend(self._segments[-1])
        self._live: dict[str, str] = {}
        for segment in self._segments:
            for record in segment.records:
                self._apply(record)
        if not self._segments or self._segments[-1].version == 1:
            self.seal()

    def put(self, key: str, text: str) -> None:
        """Set a key."""
        self._write(Record(key, text))

    def delete(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        if key not in self._live:
            return False
        self._write(Record(key, None))
        return True

    def get(self, key: str) -> str | None:
        """The text of a key."""
        return self._live.get(key)

    def keys(self) -> list[str]:
        """The keys, sorted."""
        return sorted(self._live)

    def seal(self) -> None:
        """Begin a new active segment."""
        number = self._segments[-1].number + 1 if self._segments else 1
        self._segments.append(create(segment_path(self._folder, number), []))

    def compact(self, first: int | None = None, last: int | None = None) -> None:
        """Merge the sealed segments with these numbers, or all of them."""
        sealed = self._segments[:-1]
        chosen = [
            segment
            for segment in sealed
            if (first is None or segment.number >= first) and (last is None or segment.number <= last)
        ]
        if not chosen:
            if first is None:
                return
            raise RefusedError("no sealed segment has such a number")
        target = chosen[-1]
        place = self._segments.index(chosen[0])
        made = create(target.path, merged(self._segments[:place], chosen))
        for segment in chosen[:-1]:
            segment.path.unlink()
        self._segments[place : place + len(chosen)] = [made]

    def segments(self) -> list[tuple[int, int, int]]:
        """Number, version and count of records of each segment, oldest first."""
        return [(one.number, one.version, len(one.records)) for one in self._segments]

    def _write(self, record: Record) -> None:
        append(self._segments[-1], record)
        self._apply(record)

    def _apply(self, record: Record) -> None:
        if record.text is None:
            self._live.pop(record.key, None)
        else:
            self._live[record.key] = record.text
