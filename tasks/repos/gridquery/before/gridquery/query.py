"""Steps, read and carried out."""

import re
from pathlib import Path

from gridquery.errors import QueryError
from gridquery.filters import where, where_null
from gridquery.groups import AGGREGATES, group
from gridquery.joins import join
from gridquery.sorting import sort
from gridquery.table import Table, read_csv

_JOIN = re.compile(r"(left )?join (\S+) on (\S+)")
_NULL = re.compile(r"where (\S+) is (not )?null")
_WHERE = re.compile(r"where (\S+) (\S+) (.+)")
_GROUP = re.compile(r"group (\S+): (.+)")


def run(text: str) -> Table:
    """Carry all steps out."""
    steps = [line.strip() for line in text.splitlines() if line.strip()]
    if not steps or not steps[0].startswith("load "):
        raise QueryError("the first step is load FILE")
    table = _load(steps[0].removeprefix("load ").strip())
    for step in steps[1:]:
        try:
            table = _step(table, step)
        except QueryError as error:
            raise QueryError(f"{step}: {error}") from error
    return table


def _step(table: Table, step: str) -> Table:
    if found := _JOIN.fullmatch(step):
        return join(table, _load(found[2]), found[3].split(","), keep_left=found[1] is not None)
    if found := _NULL.fullmatch(step):
        return where_null(table, found[1], null=found[2] is None)
    if found := _WHERE.fullmatch(step):
        return where(table, found[1], found[2], found[3])
    if found := _GROUP.fullmatch(step):
        return group(table, found[1].split(","), [_aggregate(one.split()) for one in found[2].split(",")])
    word, _, rest = step.partition(" ")
    if word == "sort" and rest:
        return sort(table, [_order(one.split()) for one in rest.split(",")])
    if word == "keep" and rest:
        names = tuple(rest.split(","))
        places = table.places(names)
        return Table(names, tuple(tuple(row[place] for place in places) for row in table.rows))
    if word == "limit" and rest.isdecimal():
        return Table(table.columns, table.rows[: int(rest)])
    raise QueryError("can't be understood")


def _aggregate(words: list[str]) -> tuple[str, str | None]:
    match words:
        case ["count"]:
            return "count", None
        case [word, column] if word in AGGREGATES:
            return word, column
        case _:
            raise QueryError("an aggregate is count, or one of count, sum, avg, min, max and a column")


def _order(words: list[str]) -> tuple[str, bool]:
    match words:
        case [column]:
            return column, False
        case [column, "desc"]:
            return column, True
        case _:
            raise QueryError("sort takes COL or COL desc")


def _load(name: str) -> Table:
    try:
        return read_csv(Path(name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise QueryError(f"{name} can't be read") from error
