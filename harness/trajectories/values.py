"""Looking into JSON that may be anything: every function gives what fits, or nothing."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from harness.money import pusd, usd

_DEPTH = 40
"""Deeper values are shown as text."""
_MOST = 10**15


def loads(data: bytes | str) -> Any:
    """A JSON text; None if it is none (also for ``null``), is too deep, or holds NaN."""
    try:
        return json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def lines(data: bytes) -> Iterator[dict[str, Any] | None]:
    """The objects of JSON lines, blank lines left out; None for a line that is no object."""
    for line in data.splitlines():
        if line.strip():
            value = loads(line)
            yield value if isinstance(value, dict) else None


def get(value: Any, *path: str) -> Any:
    """What lies at a path of keys; None if there is no such thing."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A string as text that any file can hold; empty for anything else."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def shown(value: Any) -> str:
    """Any value as text: a string as it is, the texts of a list's parts, else its JSON."""
    if isinstance(value, str):
        return text(value)
    parts = [text(one.get("text")) for one in objects(value) if isinstance(one.get("text"), str)]
    if parts and len(parts) == len(value):
        return "".join(parts)
    return "" if value is None else text(json.dumps(plain(value), ensure_ascii=False))


def arguments(value: Any) -> dict[str, Any]:
    """A call's arguments: an object, or its JSON; anything else under ``input``."""
    if isinstance(value, str):
        parsed = loads(value)
        value = parsed if isinstance(parsed, dict) else {"input": value}
    found = plain(value if isinstance(value, dict) else {} if value is None else {"input": value})
    assert isinstance(found, dict)
    return found


def plain(value: Any, depth: int = 0) -> Any:
    """A value that can be written anywhere: no lone surrogates, no bottomless nesting."""
    if isinstance(value, dict):
        if depth >= _DEPTH:
            return "..."
        return {text(key): plain(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return "..." if depth >= _DEPTH else [plain(one, depth + 1) for one in value]
    return text(value) if isinstance(value, str) else value


def count(value: Any) -> int | None:
    """A number of tokens."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def cost(value: Any) -> float | None:
    """An amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST and math.isfinite(value) else None


def dollars(value: Any) -> str | None:
    """An amount as JSON has it, to the picodollar: what is beyond is a float's noise."""
    known = cost(value)
    return None if known is None else decimal(repr(known))


def decimal(said: str | None) -> str | None:
    """A decimal text as exact dollars; None for one that is none, or a million and more."""
    if said is None or not re.fullmatch(r"\d+(\.\d+)?(e[-+]?\d+)?", said):
        return None
    amount = round(Decimal(said), 12)
    return usd(pusd(str(amount))) if amount < 10**6 else None


def added(values: Iterable[Any]) -> str | None:
    """The sum of those that are amounts; None if none is."""
    known = [amount for value in values if (amount := dollars(value)) is not None]
    return usd(sum(map(pusd, known))) if known else None


def total(*values: Any) -> int | None:
    """The sum of those that are counts; None if none is."""
    counts = [one for one in map(count, values) if one is not None]
    return sum(counts) if counts else None


def when(value: Any) -> str | None:
    """A time in ISO 8601, from such a text, or from seconds or milliseconds since the epoch."""
    try:
        if isinstance(value, str):
            datetime.datetime.fromisoformat(value)
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 10**11 else value
            return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
