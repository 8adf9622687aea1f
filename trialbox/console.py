"""Reports on a terminal: tables drawn by rich, text otherwise as it is."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from harness.untrusted import inert
from scoring.report.text import Report, Table


class _Console(Console):
    """One whose closed pipe is everybody's: `guard.py` decides what it means."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


_WIDEST = 10_000
_WIDE = 200
"""Columns when stdout is no terminal: tables are not folded in a file."""


def _text(text: str) -> Text:
    """No markup, and nothing that a terminal would obey: a card may be a stranger's."""
    return Text(inert(text))


def show(report: Report) -> None:
    """Print a report; its last line comes last, alone and unfolded."""
    console = _Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False, soft_wrap=False)
    for text in report.head:
        console.print(_text(text), soft_wrap=True)
    for table in report.tables:
        show_table(table, console)
    for text in report.notes:
        console.print(_text(f"- {text}"), soft_wrap=True)
    console.print(_text(report.last), soft_wrap=True)


def show_table(table: Table, console: Console | None = None) -> None:
    """Print one table."""
    console = console or _Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)
    drawn = RichTable(title=_text(table.title), title_justify="left", box=box.SIMPLE, pad_edge=False)
    for column in table.columns:
        drawn.add_column(_text(column), overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_text(cell) for cell in row))
    if _width(drawn, console) <= console.width:
        console.print(drawn)
    else:
        _show_rows(table, console)


def _width(drawn: RichTable, console: Console) -> int:
    """How many columns a table takes where nothing is folded."""
    return Measurement.get(console, console.options.update(width=_WIDEST), drawn).maximum


def _show_rows(table: Table, console: Console) -> None:
    """Each row as a paragraph, broken between words: columns of a few letters each are not read by anybody."""
    console.print(_text(f"{table.title} (a wider terminal shows a table)"))
    for row in table.rows:
        pairs = (f"{column} {cell}" for column, cell in zip(table.columns[1:], row[1:], strict=True) if cell)
        console.print(Padding(_text(f"{row[0]}: {'; '.join(pairs)}"), (0, 0, 0, 1)))
    console.print()
