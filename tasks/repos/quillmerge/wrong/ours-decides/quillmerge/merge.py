"""The merge."""

from quillmerge.diff import changes
from quillmerge.lines import LF, join, merged, read
from quillmerge.markers import conflict
from quillmerge.regions import made_of, regions


def merge3(base: str, ours: str, theirs: str) -> dict[str, object]:
    """Merge two versions of *base*: the text, and the number of conflicts in it.

    Endings and the final newline are properties of the whole text, merged beside its lines. Where a text mixes its
    endings, they are part of the lines instead.
    """
    texts = [read(text) for text in (base, ours, theirs)]
    if any(text.mixed for text in texts):
        lines, conflicts, _ = merge_lines(*(text.lines for text in texts), ending=LF)
        return {"text": "".join(lines), "conflicts": conflicts}
    lines, conflicts, ends_in_one = merge_lines(*(text.plain() for text in texts), ending="")
    ending = texts[1].ending or LF
    final = ends_in_one or bool(texts[1].final)
    return {"text": join(lines, ending, final), "conflicts": conflicts}


def merge_lines(base: list[str], ours: list[str], theirs: list[str], ending: str) -> tuple[list[str], int, bool]:
    """The same for lines that end with *ending*; also whether a conflict is the last of them."""
    merged: list[str] = []
    conflicts = at = 0
    ends_in_one = False
    for region in regions(changes(base, ours), changes(base, theirs)):
        merged += base[at : region.lo]
        at = region.hi
        mine, other = made_of(base, region, region.ours), made_of(base, region, region.theirs)
        if not region.theirs or mine == other:
            merged += mine
        elif not region.ours:
            merged += other
        else:
            merged += conflict(mine, other, ending)
            conflicts += 1
            ends_in_one = at == len(base)
    return [*merged, *base[at:]], conflicts, ends_in_one
