"""C, the quality of code as reviewed: not measured by this version, so always missing, with the reason."""

from scoring.factor import Factor, no_factor

NOT_REVIEWED = "no code-quality review"


def code_quality() -> Factor:
    """C of one change: unavailable until reviews exist."""
    return no_factor(NOT_REVIEWED)
