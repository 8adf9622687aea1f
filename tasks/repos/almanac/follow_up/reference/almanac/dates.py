"""Steps from one day to another."""

from calendar import monthrange
from datetime import date, timedelta

DAILY, WEEKLY, MONTHLY, YEARLY = "daily", "weekly", "monthly", "yearly"
DAYS = {DAILY: 1, WEEKLY: 7}
MONTHS = {MONTHLY: 1, YEARLY: 12}


WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def weekday_in(year: int, month: int, which: int, weekday: int) -> date | None:
    """The so-many-th such weekday of a month, 0 for the last; None if it has none."""
    length = monthrange(year, month)[1]
    found = [day for day in range(1, length + 1) if date(year, month, day).weekday() == weekday]
    return date(year, month, found[which - 1]) if which <= len(found) else None


def nth(start: date, unit: str, steps: int) -> date:
    """The day that many units after *start*; the month's last day where the month is too short."""
    if unit in DAYS:
        return start + timedelta(days=steps * DAYS[unit])
    months = start.year * 12 + start.month - 1 + steps * MONTHS[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
