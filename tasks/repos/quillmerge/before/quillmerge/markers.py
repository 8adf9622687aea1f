"""Conflicts as they are written."""


def conflict(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines of a conflict."""
    return ["<<<<<<< ours\n", *ours, "=======\n", *theirs, ">>>>>>> theirs\n"]
