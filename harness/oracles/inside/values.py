"""Values in a worker: decoded for the candidate's code, and spelled by exact type when they come back.

The spelling is the one of the oracle files; this side calls no method of a candidate's objects.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

MAX_SAFE = 2**53 - 1
MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_INT_BITS = 13_000  # under 4,000 digits
MAX_NAMES = 32
MAX_NAME = 120

Json = Any


class UnserialisableError(Exception):
    """A value of a kind that observations do not hold."""


def decode(value: Json) -> object:
    """Build the Python value that a tagged JSON value spells."""
    if type(value) is list:
        return [decode(item) for item in value]
    if type(value) is not dict:
        return value
    if len(value) == 1:
        ((tag, body),) = value.items()
        if tag in _BUILDERS:
            return _BUILDERS[tag](body)
    return {key: decode(item) for key, item in value.items()}


_BUILDERS: dict[str, Callable[[Any], object]] = {
    "$int": int,
    "$float": float,
    "$decimal": decimal.Decimal,
    "$bytes": bytes.fromhex,
    "$tuple": lambda body: tuple(decode(item) for item in body),
}


class Encoder:
    """Spells a value by its exact type, so that no method of the candidate's is ever called."""

    def __init__(self) -> None:
        self.nodes = 0

    def encode(self, value: object, depth: int = 0) -> Json:
        """The tagged JSON value of *value*.

        Raises:
            UnserialisableError: a subclass or another type, a key that is no plain string, or too much of it.
        """
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise UnserialisableError("too_large")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if isinstance(value, list | tuple) and kind in {list, tuple}:
            items = [self.encode(item, depth + 1) for item in tuple(value)]
            return items if kind is list else {"$tuple": items}
        if isinstance(value, dict) and kind is dict:
            return self._dict(value, depth)
        return scalar(value)

    def _dict(self, value: dict[object, object], depth: int) -> Json:
        made: dict[str, Json] = {}
        for key, item in tuple(value.items()):
            if type(key) is not str or key.startswith("$"):
                raise UnserialisableError("key")
            made[text(key)] = self.encode(item, depth + 1)
        return made


def scalar(value: object) -> Json:
    """The spelling of a value that holds no other."""
    if type(value) is str:
        return text(value)
    if type(value) is int:
        return whole(value)
    if type(value) is float:
        return {"$float": float.__repr__(value)}
    if type(value) is bytes:
        return {"$bytes": value.hex()}
    if type(value) is decimal.Decimal:
        return {"$decimal": decimal.Decimal.__str__(value)}
    raise UnserialisableError("type")


def whole(value: int) -> Json:
    """The spelling of an integer."""
    if value.bit_length() > MAX_INT_BITS:
        raise UnserialisableError("too_large")
    return value if -MAX_SAFE <= value <= MAX_SAFE else {"$int": str(value)}


def text(value: str) -> str:
    """Give *value* back if it is Unicode text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnserialisableError("surrogate") from None
    return value


def names(error: BaseException) -> list[str]:
    """The bare names of an exception's class and its bases, nearest first."""
    bases = type.__dict__["__mro__"].__get__(type(error))
    own = type.__dict__["__name__"].__get__
    return [name[:MAX_NAME] for name in map(own, bases[:MAX_NAMES]) if type(name) is str and name.isascii()]
