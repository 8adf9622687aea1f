"""A change as two bags, before and after: what Q and S share.

Everything is counted over the whole change at once, so that a moved or renamed file adds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from harness.scan.records import ScannedFile, ScanRecord, Side, Trouble
from harness.scan.rules import LIMITS, MAX_FILES

K = TypeVar("K", bound=Hashable)


def touched(scan: ScanRecord) -> tuple[ScannedFile, ...]:
    """The files whose code changed: one whose tree is the same on both sides was only laid out anew."""
    return tuple(one for one in scan.files if not _same_code(one))


def _same_code(one: ScannedFile) -> bool:
    return one.before is not None and one.after is not None and one.before.code == one.after.code is not None


def nothing_to_measure(scan: ScanRecord) -> str | None:
    """Why the change as a whole gives no Q and no S, or ``None``."""
    if scan.changed == 0:
        return "the candidate changed nothing"
    if scan.python == 0:
        return "no Python file changed"
    if not scan.complete:
        return f"more than {MAX_FILES} Python files or {LIMITS['change_bytes'] >> 20} MB of Python changed"
    if not touched(scan):
        return "only comments, docstrings or layout changed"
    return None


def sides(files: Iterable[ScannedFile]) -> Iterator[tuple[ScannedFile, str, Side]]:
    """Every side that exists, with its name."""
    for one in files:
        for name, side in (("before", one.before), ("after", one.after)):
            if side is not None:
                yield one, name, side


def first_trouble(files: Iterable[ScannedFile], trouble: Callable[[Side], Trouble | None]) -> str | None:
    """The first side that has no figure, in words; the path is escaped and short."""
    for one, name, side in sides(files):
        found = side.trouble or trouble(side)
        if found is not None:
            return f"{one.path[-80:]!a} {name}: {found.text}"
    return None


def new(before: Counter[K], after: Counter[K]) -> Counter[K]:
    """What there is more of after than before."""
    return after - before
