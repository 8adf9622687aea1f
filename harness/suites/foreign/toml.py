"""TOML, written: just what task files are made of. The standard library only reads it."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def dump_toml(table: Mapping[str, Any]) -> str:
    """A table as TOML. None is left out; a list of tables becomes ``[[...]]``, a table in a list of values inline.

    Raises:
        TypeError: a value has no TOML form.
    """
    lines: list[str] = []
    _table(table, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    later: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping) or _is_tables(value):
            later.append((key, value))
        elif value is not None:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in later:
        place = (*path, key)
        name = ".".join(map(_key, place))
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]"]
            _table(value, place, lines)
            continue
        for one in value:
            lines += ["", f"[[{name}]]"]
            _table(one, place, lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case datetime.datetime() | datetime.date():
            return value.isoformat()
        case Mapping():
            return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
        case Sequence():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            raise TypeError(f"{type(value).__name__} has no TOML form")


def _string(text: str) -> str:
    """JSON's escapes are TOML's, but for DEL, which TOML wants escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
