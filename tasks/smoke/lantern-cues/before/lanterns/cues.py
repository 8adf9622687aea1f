"""Cues, and how far a fade has come."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cue:
    """From tick *at* on, take *channel* to level *to* within *over* ticks."""

    at: int
    channel: str
    to: int
    over: int = 0

    @property
    def end(self) -> int:
        """The tick at which the level is reached."""
        return self.at + self.over


def faded(begin: int, cue: Cue, tick: int) -> int:
    """The level at *tick* of a fade that began at level *begin*."""
    if tick >= cue.end:
        return cue.to
    way = cue.to - begin
    steps = abs(way) * (tick - cue.at) // cue.over
    return begin + (steps if way > 0 else -steps)
