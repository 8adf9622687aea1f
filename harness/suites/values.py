"""The values that oracle files hold: JSON, plus five closed tags for what JSON cannot say exactly.

A value is null, a boolean, an integer within +-(2^53 - 1), a string, a list, or an object whose keys do not start with
``$``; or one tag, an object with that single key:

=============================  ===============================================================
``{"$int": "9007199254740993"}``  an integer outside the safe range, in plain decimal digits
``{"$float": "0.1"}``             a float, as Python's ``repr`` writes it (``nan``, ``inf``, ``-0.0`` too)
``{"$decimal": "1.20"}``          a ``decimal.Decimal``, as ``str`` writes it (the exponent counts)
``{"$bytes": "00ff"}``            bytes, as lowercase hex
``{"$tuple": [1, 2]}``            a tuple of values (a list is another value)
=============================  ===============================================================

There is one spelling for each value, so two values are equal exactly when their RFC 8785 bytes are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Annotated

from pydantic import AfterValidator, JsonValue
from rfc8785 import CanonicalizationError

from harness.digest import MAX_SAFE_INTEGER, canonical

MAX_DEPTH = 64
"""How deep values may nest; deeper ones are refused on both sides."""

MAX_INT_DIGITS = 4000
"""Below the interpreter's own limit for turning digits into an integer."""


def check_value(value: JsonValue) -> JsonValue:
    """Give *value* back if it is spelled as the module says.

    Raises:
        ValueError: what is wrong and the spelling that was expected.
    """
    _check(value, 0)
    return value


Value = Annotated[JsonValue, AfterValidator(check_value)]


def same_value(expected: JsonValue, observed: JsonValue) -> bool:
    """Structural equality: key order is ignored, while 1, true, "1" and {"$float": "1.0"} all differ.

    *observed* may be hostile: what is not a value in the one spelling equals nothing.
    """
    try:
        return canonical(check_value(expected)) == canonical(check_value(observed))
    except (ValueError, CanonicalizationError):
        return False


def _check(value: JsonValue, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"nests deeper than {MAX_DEPTH}")
    match value:
        case float():
            raise ValueError(f'a float is spelled {{"$float": "{value!r}"}}')
        case int() if abs(value) > MAX_SAFE_INTEGER:
            raise ValueError('an integer beyond 2^53 - 1 is spelled {"$int": "digits"}')
        case list():
            for item in value:
                _check(item, depth + 1)
        case dict() if any(key.startswith("$") for key in value):
            _check_tag(value, depth)
        case dict():
            for item in value.values():
                _check(item, depth + 1)
        case _:
            pass


def _check_tag(value: dict[str, JsonValue], depth: int) -> None:
    (tag, *others) = value
    body = value[tag]
    if others or (tag != "$tuple" and tag not in _SPELLINGS):
        known = ", ".join([*_SPELLINGS, "$tuple"])
        raise ValueError(f"an object with a $ key is one tag alone: {known}; got {sorted(value)}")
    if tag == "$tuple":
        if not isinstance(body, list):
            raise ValueError("$tuple holds a list")
        for item in body:
            _check(item, depth + 1)
    elif not isinstance(body, str) or _SPELLINGS[tag](body) != body:
        raise ValueError(f"{tag} does not hold the one spelling of its value: {str(body)[:40]!r}")


def _int_spelling(text: str) -> str | None:
    if not re.fullmatch(r"-?[1-9][0-9]{15,}", text) or len(text) > MAX_INT_DIGITS:
        return None
    return str(int(text)) if abs(int(text)) > MAX_SAFE_INTEGER else None


def _float_spelling(text: str) -> str | None:
    try:
        return repr(float(text))
    except ValueError:
        return None


def _decimal_spelling(text: str) -> str | None:
    try:
        return str(Decimal(text))
    except InvalidOperation:
        return None


def _bytes_spelling(text: str) -> str | None:
    return text if re.fullmatch(r"(?:[0-9a-f]{2})*", text) else None


_SPELLINGS: dict[str, Callable[[str], str | None]] = {
    "$int": _int_spelling,
    "$float": _float_spelling,
    "$decimal": _decimal_spelling,
    "$bytes": _bytes_spelling,
}
