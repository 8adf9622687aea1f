"""Rules as they are written."""

from datetime import date

import pytest

from almanac.rules import Rule, RuleError, parse_rule


def test_a_rule() -> None:
    rule = parse_rule("bins: weekly every 2 from 2026-01-06 also 2026-01-07,2026-01-09")
    assert rule == Rule("bins", "weekly", date(2026, 1, 6), 2, also=frozenset({date(2026, 1, 7), date(2026, 1, 9)}))


@pytest.mark.parametrize("line", ["", "x", "x: hourly from 2026-01-01", "x: daily", "x: daily from 1.1.2026", "x: daily from 2026-01-01 count 0"])
def test_no_rules(line: str) -> None:
    with pytest.raises(RuleError):
        parse_rule(line)
