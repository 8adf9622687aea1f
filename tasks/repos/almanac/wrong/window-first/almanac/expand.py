"""The days of a rule."""

from collections.abc import Iterator, Set
from datetime import date
from itertools import count

from almanac.dates import nth
from almanac.rules import Rule
from almanac.shift import shifted


def expand(rule: Rule, first: date, last: date, closed: Set[date]) -> list[date]:
    """The days of a rule from *first* to *last*, both included."""
    held = {day for day in _held(rule, last, closed) if day >= first and day not in rule.excepted}
    return sorted(held | {day for day in rule.also if first <= day <= last})


def _held(rule: Rule, last: date, closed: Set[date]) -> Iterator[date]:
    """The days on which it would be held, in order. The bounds look at the rule's own days, before any is moved."""
    for number in count() if rule.count is None else range(rule.count):
        day = nth(rule.start, rule.unit, number * rule.every)
        if day > last or (rule.until is not None and day > rule.until):
            return
        day = shifted(day, rule.shift, closed)
        if day > last:
            return
        yield day
