"""Playing a show."""

from collections.abc import Iterable, Iterator

from lanterns.board import Board
from lanterns.cues import Cue, faded


def frames(cues: Iterable[Cue], board: Board) -> Iterator[dict[str, int]]:
    """Play cues on a board: one frame for each tick, up to the one in which the last level is reached.

    One cue at most is read ahead of those that have begun.
    """
    script = _in_order(cues)
    upcoming = next(script, None)
    running: dict[str, tuple[int, Cue]] = {}
    tick = 0
    while upcoming or running:
        while upcoming and upcoming.at <= tick:
            running[upcoming.channel] = board.level(upcoming.channel), upcoming
            upcoming = next(script, None)
        for channel, (begin, cue) in list(running.items()):
            board.set(channel, faded(begin, cue, tick))
            if tick >= cue.end:
                del running[channel]
        yield board.levels()
        tick += 1


def _in_order(cues: Iterable[Cue]) -> Iterator[Cue]:
    latest = 0
    for cue in cues:
        if cue.at < latest:
            raise ValueError(f"a cue at tick {cue.at} comes behind one at {latest}")
        latest = cue.at
        yield cue
