"""The board: channels, their levels, and overrides by hand."""

from collections.abc import Iterator
from contextlib import contextmanager

BRIGHTEST = 255


def checked(level: int) -> int:
    """The level itself, if a lamp can have it."""
    if not 0 <= level <= BRIGHTEST:
        raise ValueError(f"level {level} is not within 0 and {BRIGHTEST}")
    return level


class Board:
    """Channels by name, all dark at first."""

    def __init__(self, *channels: str) -> None:
        self._levels = dict.fromkeys(channels, 0)

    def level(self, channel: str) -> int:
        """What the lamp shows."""
        return self._levels[channel]

    def levels(self) -> dict[str, int]:
        """What all lamps show."""
        return {channel: self.level(channel) for channel in self._levels}

    def set(self, channel: str, level: int) -> None:
        """Bring a channel to a level."""
        if channel not in self._levels:
            raise KeyError(channel)
        self._levels[channel] = checked(level)

    @contextmanager
    def override(self, channel: str, level: int) -> Iterator[None]:
        """Show *level* on a channel for the length of a ``with`` block, whatever it is set to."""
        before = self.level(channel)
        self.set(channel, level)
        try:
            yield
        finally:
            self.set(channel, before)
