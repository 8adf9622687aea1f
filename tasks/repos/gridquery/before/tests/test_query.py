"""Whole queries."""

from pathlib import Path

import pytest

from gridquery.errors import QueryError
from gridquery.query import run
from gridquery.table import write_csv


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sales.csv").write_text("shop,amount\na,11\nb,5\na,20\n")
    Path("shops.csv").write_text("shop,region\na,north\nb,south\n")
    answer = run("load sales.csv\njoin shops.csv on shop\nwhere amount > 10\ngroup region: sum amount, count\n")
    assert write_csv(answer) == "region,sum_amount,count\nnorth,31,2\n"


@pytest.mark.parametrize("text", ["", "join a on b", "load none.csv"])
def test_what_is_no_query(text: str) -> None:
    with pytest.raises(QueryError):
        run(text)
