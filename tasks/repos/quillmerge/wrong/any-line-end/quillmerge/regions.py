"""The changes of both sides, brought together."""

from dataclasses import dataclass, field

from quillmerge.diff import Change


@dataclass
class Region:
    """Lines lo to hi (without hi) of the base, and the changes that lie in them."""

    lo: int
    hi: int
    ours: list[Change] = field(default_factory=list)
    theirs: list[Change] = field(default_factory=list)


def regions(ours: list[Change], theirs: list[Change]) -> list[Region]:
    """Regions in the order of the base. Changes share one if they share a line, or a place to insert at."""
    found: list[Region] = []
    both = [*((one, True) for one in ours), *((one, False) for one in theirs)]
    for change, is_ours in sorted(both, key=lambda item: (item[0].lo, item[0].hi)):
        if not found or (change.lo >= found[-1].hi and not _same_place(change, found[-1])):
            found.append(Region(change.lo, change.hi))
        region = found[-1]
        region.hi = max(region.hi, change.hi)
        (region.ours if is_ours else region.theirs).append(change)
    return found


def _same_place(change: Change, region: Region) -> bool:
    return change.lo == change.hi == region.lo == region.hi


def made_of(base: list[str], region: Region, changes: list[Change]) -> list[str]:
    """What these changes make of a region's lines."""
    made: list[str] = []
    at = region.lo
    for change in changes:
        made += [*base[at : change.lo], *change.lines]
        at = change.hi
    return [*made, *base[at : region.hi]]
