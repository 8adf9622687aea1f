"""The settings by which a project's files change how pytest runs, as parsed values that can be compared. Pure."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, TypeAlias

HARMLESS = frozenset({"markers", "minversion", "console_output_style"})
"""Keys that change what is shown or documented, never which tests run or how they end."""

Settings: TypeAlias = Mapping[str, object]
NONE: Settings = {}

_INI_SECTIONS = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
_TOML_TABLES = {
    "pytest.toml": (("pytest",),),
    ".pytest.toml": (("pytest",),),
    "pyproject.toml": (("tool", "pytest"), ("tool", "pytest", "ini_options")),
}
_RULES_BY_BEING_THERE = frozenset({"pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"})
"""Files that pytest takes for its configuration even when they are empty."""


MAX_BYTES = 1 << 16
MAX_LINE = 2000
"""The most that is parsed of one file: both parsers take quadratic time over a line that was made for it."""


class UnreadableError(ValueError):
    """The file is none that its reader could parse."""


def is_test_config(path: str) -> bool:
    """Whether pytest may read its settings from a file of this name."""
    name = path.rpartition("/")[2]
    return name in _INI_SECTIONS or name in _TOML_TABLES


def is_too_large(data: bytes) -> bool:
    """Whether a file is over what is parsed: nothing is known of its settings then."""
    return len(data) > MAX_BYTES or max(map(len, re.split(rb"[\n\r]", data))) > MAX_LINE


def read_settings(path: str, data: bytes) -> Settings:
    """The settings in a file for which :func:`is_test_config` holds, less the harmless ones.

    Layout, comments and every other section leave the result as it is.

    Raises:
        UnreadableError: the file is too large or can't be parsed.
    """
    if is_too_large(data):
        raise UnreadableError(path)
    name = PurePosixPath(path).name
    try:
        text = data.decode()
        found = _toml(text, name) if name in _TOML_TABLES else _ini(text, _INI_SECTIONS[name])
    except (ValueError, RecursionError, configparser.Error) as error:
        raise UnreadableError(path) from error
    if found is None:
        return {"": "there"} if name in _RULES_BY_BEING_THERE else NONE
    return {"": "there", **{key: value for key, value in found.items() if key not in HARMLESS}}


def _toml(text: str, name: str) -> dict[str, object] | None:
    parsed = tomllib.loads(text)
    merged: dict[str, object] | None = None
    for table in _TOML_TABLES[name]:
        found: Any = parsed
        for key in table:
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, dict):
            prefix = ".".join(table[2:])
            merged = (merged or {}) | {
                (f"{prefix}.{key}" if prefix and key not in HARMLESS else key): value
                for key, value in found.items()
                if key != "ini_options"
            }
    return merged


def _ini(text: str, section: str) -> dict[str, object] | None:
    parser = configparser.RawConfigParser(default_section="\0", comment_prefixes=("#", ";"), delimiters=("=", ":"))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # pytest's keys have a case
    # pytest's reader takes form feeds and the like for the end of a line, where this one wouldn't.
    parser.read_string("\n".join(text.splitlines()))
    if not parser.has_section(section):
        return None
    return {key: [line.strip() for line in value.split("\n") if line.strip()] for key, value in parser.items(section)}
