"""Reading a script file: plain YAML, with one line for whatever is wrong.

The YAML is the safe part of what everybody writes: text, numbers, ``true``, ``false``, ``null``, lists and tables.
A key that comes twice is an error, as are aliases and tags; ``yes``, ``on`` and dates are text.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter

from harness.errors import UserError
from harness.gateway.scripted.script import Script
from harness.suites.parse import parse, read_bytes

_SCRIPT: TypeAdapter[Script] = TypeAdapter(Script)
_TAG = "tag:yaml.org,2002:"
_SEE = "docs/scripted-provider.md documents every field"


class _Loader(yaml.SafeLoader):
    """The safe loader, with fewer surprises."""

    # The class attributes are shared with the parent: these are this loader's own.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the parent has it
    yaml_constructors = {  # noqa: RUF012
        tag: make
        for tag, make in yaml.SafeLoader.yaml_constructors.items()
        if tag in {None, *(_TAG + name for name in ("null", "bool", "int", "float", "seq", "map", "str"))}
    }

    def compose_node(self, parent: Any, index: Any) -> Any:
        """As the parent's, less aliases: a few of them can stand for gigabytes."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "an alias is not taken", self.get_mark())
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """As the parent's, but a key is a text and comes once."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is a plain text", key.start_mark)
            if key.value in seen:
                problem = f"the key {key.value!r} comes twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
            key.tag = _TAG + "str"
        return super().construct_mapping(node, deep)


for _name, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", ["n", "~", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?", "-+0123456789"),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})$"), list(_first))


def load_script(path: Path) -> Script:
    """The script in a file.

    Raises:
        UserError: one line with the file, the field, and what was expected.
    """
    try:
        data = read_bytes(path)
    except UserError as error:
        raise UserError(error.where, error.problem, _SEE) from error
    return parse_script(data, str(path))


def parse_script(data: bytes, where: str = "script") -> Script:
    """The script in a file's bytes; raises as :func:`load_script` does."""
    try:
        value = _Loader(data.decode()).get_single_data()
    except UnicodeDecodeError as error:
        raise UserError(where, "is not UTF-8 text", "save it as UTF-8") from error
    except RecursionError as error:
        raise UserError(where, "nests too deep", _SEE) from error
    except ValueError as error:
        raise UserError(where, f"holds a number that can't be read: {error}", _SEE) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" on line {mark.line + 1}" if mark else ""
        raise UserError(where, f"is not plain YAML{line}: {error.problem or error.context}", _SEE) from error
    except yaml.YAMLError as error:
        raise UserError(where, f"is not YAML: {' '.join(str(error).split())}", _SEE) from error
    if not isinstance(value, dict):
        raise UserError(where, "holds no table of fields", f"begin with `turns:`; {_SEE}")
    try:
        return parse(_SCRIPT, value, where)
    except UserError as error:
        raise UserError(error.where, error.problem, error.remedy or _SEE) from error
