"""Reading an author's TOML or JSON into a model, with one line for whatever is wrong."""

from __future__ import annotations

import codecs
import datetime
import json
import stat
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness import digest
from harness.errors import UserError
from harness.suites import schema

T = TypeVar("T")

MAX_FILE_BYTES = 16 * 1024 * 1024


def _one_itself(value: Any) -> Any:
    """Neither true nor 1.0, which equal 1 in Python and would be taken for it."""
    if type(value) is not int or value != 1:
        raise ValueError(f"should be 1, got {_shown(value)}")
    return value


SchemaOne = Annotated[Literal[1], BeforeValidator(_one_itself)]
"""The ``schema`` of an author's file."""


class FileModel(BaseModel):
    """Base of what authors write: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def read_bytes(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        UserError: it is missing, a link, unreadable or too large.
    """
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise UserError(str(path), "is a link, which may lead anywhere on this host", "put the file itself there")
        if not stat.S_ISREG(mode):
            raise UserError(str(path), "is not a regular file", "put a file there")
        data = path.read_bytes()
    except FileNotFoundError:
        raise UserError(str(path), "is missing", "correct the path or create it; docs/ says what it holds") from None
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
    data = read_bytes(path)
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(str(path), "begins with a byte order mark", "save it as UTF-8 without one")
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a plain ValueError
        raise UserError(str(path), f"is not TOML: {_one_line(str(error))}", "correct it there") from error


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
        text = json.dumps(raw, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:  # bytes in Parquet, a circle of YAML's anchors
        raise UserError(
            where, f"holds what no JSON can: {_one_line(str(error))}", "expected text, numbers, lists and tables"
        ) from error
    try:
        return adapter.validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = _key(first, raw)
        if first["type"] == "extra_forbidden":
            remedy = f"expected one of: {', '.join(schema.known_keys(adapter.json_schema(), first['loc']))}"
            raise UserError(f"{where}: {key}", "is an unknown key", remedy) from error
        raise UserError(f"{where}: {key}" if key else where, _problem(first), _remedy(adapter, first)) from error


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


def _problem(error: ErrorDetails) -> str:
    message = _one_line(error["msg"]).removeprefix("Value error, ")
    if error["type"] in {"missing", "union_tag_not_found"}:
        return "this key is missing"
    if error["type"] == "union_tag_invalid":
        return f"should be one of {error['ctx']['expected_tags']}, got {error['ctx']['tag']!r}"
    if error["type"] == "value_error":
        return message
    if error["type"] == "too_short":
        least = error["ctx"]["min_length"]
        return f"should have at least {least} item{'' if least == 1 else 's'}, got {_shown(error['input'])}"
    message = message[:1].lower() + message[1:]
    return f"{message}, got {_shown(error['input'])}"


def _remedy(adapter: TypeAdapter[Any], error: ErrorDetails) -> str:
    """What should stand where a key is missing or a text has another shape; other messages say it themselves."""
    match error["type"]:
        case "missing":
            wanted = schema.expected(adapter.json_schema(), error["loc"])
        case "union_tag_not_found":
            wanted = schema.tags(adapter.json_schema(), error["loc"])
        case "string_pattern_mismatch":
            wanted = schema.WORDS.get(error["ctx"]["pattern"], "")
        case _:
            wanted = ""
    return f"expected {wanted}" if wanted else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _one_line(text: str) -> str:
    return " ".join(text.split())
