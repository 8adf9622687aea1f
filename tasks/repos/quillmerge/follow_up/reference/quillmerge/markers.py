"""Conflicts as they are written."""


def conflict(ours: list[str], theirs: list[str], ending: str, base: list[str] | None = None) -> list[str]:
    """The lines of a conflict, each of which ends with *ending* at least. Without *base* it is made small."""
    head = tail = 0
    if base is None:
        shorter = min(len(ours), len(theirs))
        while head < shorter and ours[head] == theirs[head]:
            head += 1
        while tail < shorter - head and ours[-1 - tail] == theirs[-1 - tail]:
            tail += 1
    middle = [] if base is None else [f"||||||| base{ending}", *_ended(base, ending)]
    return [
        *_ended(ours[:head], ending),
        f"<<<<<<< ours{ending}",
        *_ended(ours[head : len(ours) - tail], ending),
        *middle,
        f"======={ending}",
        *_ended(theirs[head : len(theirs) - tail], ending),
        f">>>>>>> theirs{ending}",
        *_ended(ours[len(ours) - tail :], ending),
    ]


def _ended(lines: list[str], ending: str) -> list[str]:
    return [line if line.endswith(ending) else line + ending for line in lines]
