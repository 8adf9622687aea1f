"""Rules expanded."""

from pathlib import Path

from almanac.cli import main
from almanac.listing import days


def test_every_second_week() -> None:
    assert days("bins: weekly every 2 from 2026-01-06", "2026-01-01", "2026-02-10") == ["2026-01-06", "2026-01-20", "2026-02-03"]


def test_rent_goes_back_to_friday() -> None:
    assert days("rent: monthly from 2026-01-30 count 2 shift back", "2026-01-01", "2026-12-31") == ["2026-01-30", "2026-02-27"]


def test_an_extra_day_is_listed_once() -> None:
    assert days("x: daily from 2026-01-01 count 2 also 2026-01-02,2026-01-09", "2026-01-01", "2026-01-31") == ["2026-01-01", "2026-01-02", "2026-01-09"]


def test_the_list(tmp_path: Path, capsys) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("b: daily from 2026-01-01\na: weekly from 2026-01-02\n")
    assert main(["list", str(rules), "--today", "2026-01-01", "--days", "2"]) == 0
    assert capsys.readouterr().out == "2026-01-01 b\n2026-01-02 a\n2026-01-02 b\n"
