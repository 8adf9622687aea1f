"""Off the days on which nobody works."""

from collections.abc import Set
from datetime import date, timedelta

BACK, FORWARD = "back", "forward"
_WAY = {BACK: timedelta(days=-1), FORWARD: timedelta(days=1)}
_SATURDAY = 5


def shifted(day: date, way: str | None, closed: Set[date]) -> date:
    """The nearest working day that way; the day itself if there is no way or it is one."""
    if way is None:
        return day
    while day.weekday() >= _SATURDAY or day in closed:
        day += _WAY[way]
    return day
