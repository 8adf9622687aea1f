"""The days of a rule."""

from collections.abc import Set
from datetime import date

from almanac.dates import step
from almanac.rules import Rule
from almanac.shift import shifted


def expand(rule: Rule, first: date, last: date, closed: Set[date]) -> list[date]:
    """The days of a rule from *first* to *last*, both included."""
    found: list[date] = []
    day = rule.start
    while day <= last and (rule.count is None or len(found) < rule.count):
        held = shifted(day, rule.shift, closed)
        if rule.until is not None and held > rule.until:
            break
        if day >= first and day not in rule.excepted:
            found.append(held)
        day = step(day, rule.unit, rule.every)
    found += [day for day in rule.also if first <= day <= last]
    return sorted(set(found))
