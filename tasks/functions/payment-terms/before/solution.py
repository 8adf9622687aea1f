"""When an invoice has to be paid."""

import re
from datetime import date, timedelta


def due(invoiced, terms, holidays):
    """The day on which an invoice is due, moved to the next working day; dates are ``YYYY-MM-DD``."""
    closed = {day(text) for text in holidays}
    found = re.fullmatch(r"net ([0-9]{1,3})", terms)
    if not found:
        raise ValueError(f"unknown terms: {terms!r}")
    when = day(invoiced) + timedelta(days=int(found[1]))
    while when.weekday() >= 5 or when in closed:
        when += timedelta(days=1)
    return {"due": when.isoformat(), "discounts": []}


def day(text):
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError(f"not a date: {text!r}")
    return date.fromisoformat(text)
