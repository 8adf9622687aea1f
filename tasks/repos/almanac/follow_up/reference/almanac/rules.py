"""Rules as they are written."""

from dataclasses import dataclass
from datetime import date

from almanac.dates import DAYS, MONTHLY, MONTHS, WEEKDAYS
from almanac.shift import BACK, FORWARD


class RuleError(ValueError):
    """A line is no rule."""


@dataclass(frozen=True)
class Rule:
    """A recurring day."""

    name: str
    unit: str
    start: date
    every: int = 1
    count: int | None = None
    until: date | None = None
    shift: str | None = None
    excepted: frozenset[date] = frozenset()
    also: frozenset[date] = frozenset()
    on: tuple[int, int] | None = None
    """Which (0 is the last) and what weekday of the month."""


def parse_rule(line: str) -> Rule:
    """Read a line."""
    name, colon, rest = line.partition(":")
    words = rest.split()
    if not colon or not name.strip() or not words or words[0] not in {*DAYS, *MONTHS} or len(words) % 2 == 0:
        raise RuleError(f"not a rule: {line!r}")
    said: dict[str, str] = {}
    for word, value in zip(words[1::2], words[2::2]):
        if word in said:
            raise RuleError(f"{word!r} twice: {line!r}")
        said[word] = value
    unknown = said.keys() - {"from", "every", "count", "until", "shift", "except", "also", "on"}
    if unknown or "from" not in said or {"count", "until"} <= said.keys():
        raise RuleError(f"a word is unknown, missing or excluded by another: {line!r}")
    if said.get("shift", BACK) not in {BACK, FORWARD}:
        raise RuleError(f"shift is back or forward: {line!r}")
    if "on" in said and words[0] != MONTHLY:
        raise RuleError(f"on is for monthly rules: {line!r}")
    return Rule(
        name.strip(),
        words[0],
        day_of(said["from"]),
        _number(said.get("every", "1")),
        _number(said["count"]) if "count" in said else None,
        day_of(said["until"]) if "until" in said else None,
        said.get("shift"),
        _days(said.get("except")),
        _days(said.get("also")),
        _on(said["on"]) if "on" in said else None,
    )


def day_of(text: str) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise RuleError(f"not a day: {text!r}") from error


def _on(text: str) -> tuple[int, int]:
    which, _, weekday = text.partition("-")
    if which not in {"1", "2", "3", "4", "5", "last"} or weekday not in WEEKDAYS:
        raise RuleError(f"not a weekday of a month: {text!r}")
    return 0 if which == "last" else int(which), WEEKDAYS.index(weekday)


def _days(text: str | None) -> frozenset[date]:
    return frozenset(day_of(one) for one in text.split(",")) if text else frozenset()


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise RuleError(f"not a positive number: {text!r}")
    return int(text)
