"""Tables on terminals of any width: whole words, every figure beside the name of its column."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from harness.counted import counted
from scoring.report.table import Table
from trialbox.console import show_table

COLUMNS = ("solver", "against", "tasks", "difference", "95% interval", "McNemar p", "detectable", "verdict", "why")
ROW = ("reference", "noop", "4", "1.000", "0.020 to 1.000", "0.125", "-", "not separated", "")
TABLE = Table("solvers against each other", COLUMNS, (ROW, ("wrong", *ROW[1:-1], "a\x1b[31mb")))


def shown(width: int, table: Table = TABLE) -> str:
    out = StringIO()
    show_table(table, Console(file=out, width=width, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [30, 60, 80, 100])
def test_a_table_that_does_not_fit_is_told_row_by_row_in_whole_words(width: int) -> None:
    text = shown(width)
    assert all(len(line) <= width for line in text.splitlines())
    flat = " ".join(text.split())
    assert flat.startswith(
        "solvers against each other (a wider terminal shows a table) reference: against noop; tasks 4;"
    )
    assert "95% interval 0.020 to 1.000; McNemar p 0.125; detectable -; verdict not separated wrong: against" in flat
    assert "\x1b" not in text


def test_a_table_that_fits_is_drawn() -> None:
    text = shown(140)
    assert "─" in text
    assert any("reference" in line and "not separated" in line for line in text.splitlines())
    assert "a wider terminal" not in text


def test_a_long_word_is_broken_rather_than_lost() -> None:
    assert "".join(shown(40, Table("t", ("a", "b"), (("x", "y" * 100),))).split()).count("y") == 100


def test_one_is_no_plural() -> None:
    assert [counted(n, "task") for n in (0, 1, 2)] == ["0 tasks", "1 task", "2 tasks"]
