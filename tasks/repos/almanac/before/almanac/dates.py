"""Steps from one day to another."""

from calendar import monthrange
from datetime import date, timedelta

DAILY, WEEKLY, MONTHLY, YEARLY = "daily", "weekly", "monthly", "yearly"
DAYS = {DAILY: 1, WEEKLY: 7}
MONTHS = {MONTHLY: 1, YEARLY: 12}


def step(day: date, unit: str, every: int) -> date:
    """The day that follows *day* by that many units; the month's last day where the month is too short."""
    if unit in DAYS:
        return day + timedelta(days=every * DAYS[unit])
    months = day.year * 12 + day.month - 1 + every * MONTHS[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
