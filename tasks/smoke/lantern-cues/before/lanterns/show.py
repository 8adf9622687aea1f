"""Playing a show."""

from collections.abc import Iterable, Iterator

from lanterns.board import Board
from lanterns.cues import Cue, faded


def frames(cues: Iterable[Cue], board: Board) -> Iterator[dict[str, int]]:
    """Play cues on a board: one frame for each tick, up to the one in which the last level is reached."""
    script = sorted(cues, key=lambda cue: cue.at)
    begin = board.levels()
    for tick in range(max((cue.end for cue in script), default=-1) + 1):
        for cue in script:
            if cue.at <= tick <= cue.end:
                board.set(cue.channel, faded(begin[cue.channel], cue, tick))
        yield board.levels()
