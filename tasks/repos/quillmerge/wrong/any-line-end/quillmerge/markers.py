"""Conflicts as they are written."""


def conflict(ours: list[str], theirs: list[str], ending: str) -> list[str]:
    """The lines of a conflict, each of which ends with *ending* at least."""
    return [f"<<<<<<< ours{ending}", *_ended(ours, ending), f"======={ending}", *_ended(theirs, ending), f">>>>>>> theirs{ending}"]


def _ended(lines: list[str], ending: str) -> list[str]:
    return [line if line.endswith(ending) else line + ending for line in lines]
