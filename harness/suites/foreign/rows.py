"""Rows of data sets: JSON, JSON lines, CSV and Parquet files, or a folder of them, each with its place."""

from __future__ import annotations

import ast
import csv
import importlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from pydantic import BeforeValidator

from harness.digest import loads
from harness.errors import UserError
from harness.suites.parse import read_bytes

SUFFIXES = (".json", ".jsonl", ".ndjson", ".csv", ".parquet")
MAX_BYTES = 2 << 30
_SHAPE = "expected one object for each instance"
_LIST_SHAPE = "should be a list of test names, or a string that holds one as JSON or as a Python literal"


@dataclass(frozen=True)
class Row:
    """One instance as it was written, and where."""

    where: str
    values: dict[str, Any]


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, or of every data file in a folder, in the order of their names.

    Raises:
        UserError: a file can't be read or is no list of rows; the message names the line.
    """
    for one in read_each(path):
        if isinstance(one, UserError):
            raise one
        yield one


def read_each(path: Path) -> Iterator[Row | UserError]:
    """As :func:`read_rows`, but what is malformed stands in its place as an error, and the next line or file follows.

    Raises:
        UserError: the folder holds no data file.
    """
    files = [path]
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
    if not files:
        raise UserError(str(path), f"holds no {', '.join(SUFFIXES)} file", "name the file or folder of the data set")
    for file in files:
        try:
            yield from _file(file)
        except UserError as error:
            yield error


def _file(path: Path) -> Iterator[Row | UserError]:
    match path.suffix:
        case ".jsonl" | ".ndjson":
            yield from _json_lines(path)
        case ".json":
            yield from _json(path)
        case ".csv":
            yield from _csv(path)
        case ".parquet":
            yield from _parquet(path)
        case _:
            raise UserError(str(path), "is of no known kind", f"expected one of {', '.join(SUFFIXES)}")


def _text(path: Path) -> str:
    try:
        data = path.read_bytes() if path.is_file() and path.stat().st_size < MAX_BYTES else read_bytes(path)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
    except OSError as error:
        raise UserError(str(path), f"can't be read: {error.strerror}", "check its permissions") from error


def _json_lines(path: Path) -> Iterator[Row | UserError]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            where = f"{path}: line {number}"
            try:
                value = _loads(line, where)
            except UserError as error:
                yield error
            else:
                yield _row(where, value)


def _json(path: Path) -> Iterator[Row | UserError]:
    value = _loads(_text(path), str(path))
    if isinstance(value, dict) and "instance_id" not in value:
        for key, one in value.items():
            row = _row(f"{path}: {key}", one)
            if isinstance(row, Row) and row.values.get("instance_id", key) != key:
                row = UserError(row.where, "has another instance_id than its key", "correct one of them")
            yield Row(row.where, {"instance_id": key, **row.values}) if isinstance(row, Row) else row
        return
    if not isinstance(value, dict | list):
        raise UserError(str(path), "holds no list of instances", "expected a list of objects, or an object by id")
    for number, one in enumerate([value] if isinstance(value, dict) else value, 1):
        yield _row(f"{path}: item {number}", one)


def _csv(path: Path) -> Iterator[Row | UserError]:
    csv.field_size_limit(1 << 30)
    reader = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    number = 0
    try:
        for number, one in enumerate(reader, 1):
            where = f"{path}: row {number}"
            if None in one or None in one.values():
                yield UserError(where, "has another number of fields than the header", "check its quotes")
            else:
                yield _row(where, dict(one))
    except csv.Error as error:
        raise UserError(f"{path}: row {number + 1}", f"is not CSV: {error}", "check its quotes") from error


def _parquet(path: Path) -> Iterator[Row | UserError]:
    """pyarrow is no dependency of ours: it is 170 MB, for a format that only data sets come in."""
    parquet = optional("pyarrow.parquet", "pyarrow", f"{path}", "convert the file to JSON lines")
    errors = (importlib.import_module("pyarrow").ArrowException, OSError, ValueError)
    try:
        file = parquet.ParquetFile(path)
        batches = [batch.to_pylist() for batch in file.iter_batches()]
    except errors as error:
        raise UserError(str(path), f"is not Parquet: {' '.join(str(error).split())[:120]}", "fetch it again") from error
    for number, one in enumerate((one for batch in batches for one in batch), 1):
        yield _row(f"{path}: row {number}", one)


def optional(module: str, package: str, where: str, instead: str) -> ModuleType:
    """A module that an extra brings, imported only where it is needed.

    Raises:
        UserError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            where, f"reading it needs the package {package}", f"`pip install {package}`, or {instead}"
        ) from error


def _loads(text: str, where: str) -> Any:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(where, f"is not JSON: {' '.join(str(error).split())}", _SHAPE) from error


def _row(where: str, value: Any) -> Row | UserError:
    if not isinstance(value, dict):
        return UserError(where, f"is no object but {type(value).__name__}", _SHAPE)
    return Row(where, value)


# -------------------------------------------------------------------------------------------------- lists of tests


def _list(value: Any) -> tuple[Any, ...]:
    """A list of tests comes as a list, as JSON in a string, or as a Python literal in a string."""
    found = _literal(value) if isinstance(value, str) else value
    if not isinstance(found, list | tuple | set):
        raise ValueError(_LIST_SHAPE)  # noqa: TRY004 - what pydantic takes for a wrong value
    if any(isinstance(one, str) and not _sayable(one) for one in found):
        raise ValueError("holds half of a surrogate pair, which no UTF-8 text has")
    # a set's own order is another in each process, and the list is part of the score hash
    return tuple(sorted(found, key=repr) if isinstance(found, set) else found)


def _sayable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _literal(text: str) -> Any:
    if not text.strip():
        return []
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise ValueError(_LIST_SHAPE) from None


TestNames = Annotated[tuple[str, ...], BeforeValidator(_list)]
"""``FAIL_TO_PASS`` and ``PASS_TO_PASS``, however they are spelled."""

Words = Annotated[tuple[str, ...], BeforeValidator(_list)]
"""A list of other words, spelled in as many ways."""
