"""Reading an author's TOML or JSON into a model, with one line for whatever is wrong."""

from __future__ import annotations

import datetime
import json
import stat
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness import digest
from harness.errors import UserError

T = TypeVar("T")

MAX_FILE_BYTES = 16 * 1024 * 1024


class FileModel(BaseModel):
    """Base of what authors write: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_bytes(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        UserError: it is missing, unreadable or too large.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UserError(str(path), "is not a regular file", "put a file there")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(str(path), "is missing", "create it; docs/suites.md says what it holds") from None
    except OSError as error:
        raise UserError(str(path), f"can't be read: {error.strerror}", "check its kind and permissions") from error
    if len(data) > MAX_FILE_BYTES:
        raise UserError(str(path), f"is larger than {MAX_FILE_BYTES // 1024**2} MiB", "split it")
    return data


def read_toml(path: Path) -> dict[str, Any]:
    """The TOML table in *path*.

    Raises:
        UserError: the file can't be read or isn't TOML.
    """
    try:
        return tomllib.loads(read_bytes(path).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(str(path), f"is not TOML: {_one_line(str(error))}", "fix the line named") from error


def parse_json(kind: type[T], data: bytes, where: str) -> T:
    """Read JSON bytes into a model, strictly: duplicate keys and non-finite numbers are errors.

    Raises:
        UserError: one line with *where*, the key and what was expected.
    """
    try:
        raw = digest.loads(data)
    except (ValueError, RecursionError) as error:
        raise UserError(where, f"is not JSON: {_one_line(str(error))}", "fix the place named") from error
    return parse(TypeAdapter(kind), raw, where)


def parse(adapter: TypeAdapter[T], raw: Any, where: str) -> T:
    """Validate plain values without coercion: "1" is no integer, 1 is no boolean.

    Raises:
        UserError: one line with *where*, the key and what was expected.
    """
    try:
        return adapter.validate_json(json.dumps(raw, default=_plain), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = _key(first, raw)
        if first["type"] == "extra_forbidden":
            remedy = f"expected one of: {', '.join(_known_keys(adapter.json_schema(), first['loc']))}"
            raise UserError(f"{where}: {key}", "is an unknown key", remedy) from error
        raise UserError(f"{where}: {key}" if key else where, _problem(first)) from error


def _plain(value: Any) -> str:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise TypeError(f"unexpected {type(value).__name__}")


def _key(error: ErrorDetails, raw: Any) -> str:
    """The place as an author would write it; the union tags in pydantic's location are left out."""
    key, here = "", raw
    for index, part in enumerate(error["loc"]):
        last = index == len(error["loc"]) - 1
        if isinstance(part, int):
            key += f"[{part}]"
            here = here[part] if isinstance(here, list) and part < len(here) else None
        elif isinstance(here, dict) and (part in here or (last and error["type"] == "missing")):
            key += f".{part}" if key else str(part)
            here = here.get(part)
    if error["type"].startswith("union_tag"):
        tag = error["ctx"]["discriminator"].strip("'")
        key += f".{tag}" if key else tag
    return key


def _known_keys(schema: dict[str, Any], loc: tuple[int | str, ...]) -> list[str]:
    """The keys that the JSON schema knows beside the unknown one at *loc*."""

    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        options = [resolved(option) for option in node.get("anyOf", [])]
        return next((option for option in options if "properties" in option), node)

    node = resolved(schema)
    for part in loc[:-1]:
        tags = node.get("discriminator", {}).get("mapping", {})
        if part in tags:
            node = {"$ref": tags[part]}
        elif isinstance(part, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(part) or node.get("additionalProperties") or {}
        node = resolved(node)
    return list(node.get("properties", {}))


def _problem(error: ErrorDetails) -> str:
    message = _one_line(error["msg"]).removeprefix("Value error, ")
    if error["type"] in {"missing", "union_tag_not_found"}:
        return "this key is missing"
    if error["type"] == "union_tag_invalid":
        return f"should be one of {error['ctx']['expected_tags']}, got {error['ctx']['tag']!r}"
    if error["type"] == "value_error":
        return message
    message = message[:1].lower() + message[1:]
    return f"{message}, got {_shown(error['input'])}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())
