"""The pattern that everybody starts with."""

from pathlib import Path

from purl.pattern import rows_of

RIB = Path(__file__).parent.parent / "patterns" / "rib.txt"


def test_the_rib_fits():
    rows = rows_of(RIB.read_text(encoding="utf-8"), 12)
    assert [(row.before, row.after) for row in rows] == [(12, 12), (12, 12), (12, 10), (10, 10)]


def test_the_rib_is_ribbed():
    assert rows_of(RIB.read_text(encoding="utf-8"), 12)[0].names == ["k", "k", "p", "p"] * 3
