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
        self._over: dict[str, dict[object, int]] = {channel: {} for channel in channels}

    def level(self, channel: str) -> int:
        """What the lamp shows: the last override that is still open, else what is set."""
        return next(reversed(self._over[channel].values()), self._levels[channel])

    def levels(self) -> dict[str, int]:
        """What all lamps show."""
        return {channel: self.level(channel) for channel in self._levels}

    def underneath(self, channel: str) -> int:
        """What a channel is set to, whatever lies over it."""
        return self._levels[channel]

    def set(self, channel: str, level: int) -> None:
        """Bring a channel to a level; an override goes on hiding it."""
        if channel not in self._levels:
            raise KeyError(channel)
        self._levels[channel] = checked(level)

    @contextmanager
    def override(self, channel: str, level: int) -> Iterator[None]:
        """Show *level* on a channel for the length of a ``with`` block, whatever it is set to."""
        mark = object()
        self._over[channel][mark] = checked(level)
        try:
            yield
        finally:
            del self._over[channel][mark]
