"""Steps from one day to another."""

from calendar import monthrange
from datetime import date, timedelta

DAILY, WEEKLY, MONTHLY, YEARLY = "daily", "weekly", "monthly", "yearly"
DAYS = {DAILY: 1, WEEKLY: 7}
MONTHS = {MONTHLY: 1, YEARLY: 12}


def nth(start: date, unit: str, steps: int) -> date:
    """The day that many units after *start*; the month's last day where the month is too short."""
    if unit in DAYS:
        return start + timedelta(days=steps * DAYS[unit])
    months = start.year * 12 + start.month - 1 + steps * MONTHS[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
