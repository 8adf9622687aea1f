"""From single beads to the short form."""


def shorten(beads: str) -> str:
    """Runs of two and more beads get a number; groups are left to the reader."""
    short, last, times = "", "", 0
    for bead in beads:
        if bead == last:
            times += 1
            continue
        short += _piece(last, times)
        last, times = bead, 1
    return short + _piece(last, times)


def _piece(bead: str, times: int) -> str:
    return f"{times}{bead}" if times > 1 else bead
