"""Version 5 task repositories of SWE-bench: a folder for each instance, whose files are the columns of a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.errors import UserError
from harness.suites.foreign.rows import Row, optional
from harness.suites.parse import parse_json, read_bytes
from harness.suites.tree import Tree, read_tree

_AS_FILE = {
    "patch": "gold.patch",
    "test_patch": "test.patch",
    "eval_script": "eval.sh",
    "problem_statement": "problem_statement.md",
}
_ASSETS = "\0test_assets"
_MAX_VALUES = 100_000


def task_repository(tasks: Path) -> Iterator[Row]:
    """One row for each folder with a ``task.yaml``; its files are read by :func:`complete_row`.

    Raises:
        UserError: there is none.
    """
    folders = sorted(one for one in tasks.iterdir() if (one / "task.yaml").is_file())
    if not folders:
        raise UserError(str(tasks), "holds no folder with a task.yaml", "expected tasks/<instance_id>/task.yaml")
    for folder in folders:
        yield Row(str(folder), {"\0folder": folder})


def complete_row(row: Row) -> Row:
    """A row that names a folder of a task repository, with the folder's files read; any other as it is.

    Raises:
        UserError: a file is missing or malformed.
    """
    folder = row.values.get("\0folder")
    if not isinstance(folder, Path):
        return row
    values = read_yaml(folder / "task.yaml")
    for column, name in _AS_FILE.items():
        values[column] = _exact_text(folder / name)
    tests = parse_json(dict[str, Any], read_bytes(folder / "tests.json"), str(folder / "tests.json"))
    assets = read_tree(folder / "test_assets") if (folder / "test_assets").is_dir() else Tree()
    return Row(str(folder), {"instance_id": folder.name, **values, **tests, _ASSETS: assets})


def assets_of(row: Row) -> Tree:
    """The binary files that the test patch can't hold."""
    found = row.values.get(_ASSETS)
    return found if isinstance(found, Tree) else Tree()


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file.

    Raises:
        UserError: PyYAML is not installed, or the file holds something else.
    """
    yaml = optional("yaml", "PyYAML", str(path), "convert it")
    try:
        value = yaml.safe_load(_exact_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a 13th month is a plain ValueError
        raise UserError(str(path), f"is not YAML: {' '.join(str(error).split())[:120]}", "correct it") from error
    _check_size(value, str(path))
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise UserError(str(path), "holds no mapping", "expected keys and values")
    return value


def _check_size(value: Any, where: str) -> None:
    """Refuse anchors that make a small file a huge value, or a circle.

    Raises:
        UserError: written out it has more than :data:`_MAX_VALUES` values.
    """
    waiting, seen = [value], 0
    while waiting:
        one = waiting.pop()
        seen += 1
        if isinstance(one, dict):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple | set):
            waiting.extend(one)
        if seen + len(waiting) > _MAX_VALUES:
            raise UserError(where, f"holds over {_MAX_VALUES} values once its anchors are written out", "write less")


def _exact_text(path: Path) -> str:
    try:
        return read_bytes(path).decode()
    except UnicodeDecodeError as error:
        raise UserError(str(path), "is not UTF-8 text", "save it as UTF-8") from error
