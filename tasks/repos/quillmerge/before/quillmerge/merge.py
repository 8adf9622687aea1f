"""The merge."""

from quillmerge.diff import changes
from quillmerge.lines import join, split
from quillmerge.markers import conflict
from quillmerge.regions import made_of, regions


def merge3(base: str, ours: str, theirs: str) -> dict[str, object]:
    """Merge two versions of *base*: the text, and the number of conflicts in it."""
    lines, conflicts = merge_lines(split(base), split(ours), split(theirs))
    return {"text": join(lines), "conflicts": conflicts}


def merge_lines(base: list[str], ours: list[str], theirs: list[str]) -> tuple[list[str], int]:
    """The same for lines."""
    merged: list[str] = []
    conflicts = at = 0
    for region in regions(changes(base, ours), changes(base, theirs)):
        merged += base[at : region.lo]
        at = region.hi
        mine, other = made_of(base, region, region.ours), made_of(base, region, region.theirs)
        if not region.theirs or mine == other:
            merged += mine
        elif not region.ours:
            merged += other
        else:
            merged += conflict(mine, other)
            conflicts += 1
    return [*merged, *base[at:]], conflicts
