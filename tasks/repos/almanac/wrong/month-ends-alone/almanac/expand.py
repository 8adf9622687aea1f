"""The days of a rule."""

from collections.abc import Set
from datetime import date

from almanac.dates import nth
from almanac.rules import Rule
from almanac.shift import shifted


def expand(rule: Rule, first: date, last: date, closed: Set[date]) -> list[date]:
    """The days of a rule from *first* to *last*, both included."""
    found: list[date] = []
    day, steps = rule.start, 0
    while day <= last and (rule.count is None or len(found) < rule.count):
        held = shifted(day, rule.shift, closed)
        if rule.until is not None and held > rule.until:
            break
        if day >= first and day not in rule.excepted:
            found.append(held)
        steps += rule.every
        day = nth(rule.start, rule.unit, steps)
    found += [day for day in rule.also if first <= day <= last]
    return sorted(set(found))
