"""Rules as they are written."""

from dataclasses import dataclass
from datetime import date

from almanac.dates import DAYS, MONTHS
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
    unknown = said.keys() - {"from", "every", "count", "until", "shift", "except", "also"}
    if unknown or "from" not in said or {"count", "until"} <= said.keys():
        raise RuleError(f"a word is unknown, missing or excluded by another: {line!r}")
    if said.get("shift", BACK) not in {BACK, FORWARD}:
        raise RuleError(f"shift is back or forward: {line!r}")
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
    )


def day_of(text: str) -> date:
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise RuleError(f"not a day: {text!r}") from error


def _days(text: str | None) -> frozenset[date]:
    return frozenset(day_of(one) for one in text.split(",")) if text else frozenset()


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise RuleError(f"not a positive number: {text!r}")
    return int(text)
