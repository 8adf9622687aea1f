"""The days of a rule."""

from collections.abc import Iterator, Set
from datetime import date
from itertools import count, islice

from almanac.dates import nth, weekday_in
from almanac.rules import Rule
from almanac.shift import shifted


def expand(rule: Rule, first: date, last: date, closed: Set[date]) -> list[date]:
    """The days of a rule from *first* to *last*, both included."""
    held = {day for day in _held(rule, last, closed) if day >= first and day not in rule.excepted}
    return sorted(held | {day for day in rule.also if first <= day <= last})


def _own(rule: Rule) -> Iterator[date]:
    """The rule's own days, without an end."""
    for number in count():
        if rule.on is None:
            yield nth(rule.start, rule.unit, number * rule.every)
            continue
        month = nth(rule.start.replace(day=1), rule.unit, number * rule.every)
        day = weekday_in(month.year, month.month, *rule.on)
        if day is not None and day >= rule.start:
            yield day


def _held(rule: Rule, last: date, closed: Set[date]) -> Iterator[date]:
    """The days on which it would be held, in order. The bounds look at the rule's own days, before any is moved."""
    for day in islice(_own(rule), rule.count):
        if rule.until is not None and day > rule.until:
            return
        day = shifted(day, rule.shift, closed)
        if day > last:
            return
        yield day
