"""Rules of a file, expanded."""

from collections.abc import Iterable
from datetime import date, timedelta

from almanac.expand import expand
from almanac.rules import Rule, RuleError, day_of, parse_rule

YEAR = timedelta(days=366)


def days(line: str, first: str, last: str, closed: Iterable[str] = ()) -> list[str]:
    """The days of one rule, as text."""
    shut = frozenset(day_of(day) for day in closed)
    return [day.isoformat() for day in expand(parse_rule(line), day_of(first), day_of(last), shut)]


def read_rules(text: str) -> list[Rule]:
    """The rules of a file; each name is used once."""
    lines = (line.strip() for line in text.splitlines())
    rules = [parse_rule(line) for line in lines if line and not line.startswith("#")]
    if len({rule.name for rule in rules}) != len(rules):
        raise RuleError("a name is used twice")
    return rules


def listing(rules: list[Rule], today: date, count: int, closed: frozenset[date]) -> list[str]:
    """Day and name of everything in that many days from today on."""
    last = today + timedelta(days=count - 1)
    return [f"{day} {name}" for day, name in sorted((day, rule.name) for rule in rules for day in expand(rule, today, last, closed))]


def next_day(rule: Rule, today: date, closed: frozenset[date]) -> date | None:
    """The first day within a year from today on."""
    return next(iter(expand(rule, today, today + YEAR, closed)), None)
