"""Known attacks end in their named verdicts and honest controls unflagged: a few here, all in `nox -s attacks`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from tests.attacks.elsewhere import CATALOGUE, NO_PROBE
from tests.attacks.page import PAGE, make_page
from tests.attacks.pair import Row, Stage, all_rows
from tests.attacks.run import needs_engine, run_row
from tests.attacks.workshop import Workshop, make_workshop

_HERE = {"AT-01b", "CA-09", "CA-12c", "GR-02", "GR-20e", "SC-05e", "RP-02"}
"""Run with the tests; all others by `nox -s attacks`."""
EACH = [pytest.param(row, id=row.id, marks=() if row.id in _HERE else pytest.mark.attacks) for row in all_rows()]


@pytest.fixture
def workshop(engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path, owner: str) -> Workshop:
    return make_workshop(engine, images, tmp_path, owner)


def test_every_known_attack_is_a_probe_or_has_a_reason() -> None:
    rows = all_rows()
    built = {row.catalogue for row in rows}
    assert len(CATALOGUE) == 89
    assert built | NO_PROBE.keys() == CATALOGUE
    assert not built & NO_PROBE.keys()
    assert len({row.id for row in rows}) == len(rows) >= 60
    assert {row.pair.stage for row in rows} == set(Stage)


def test_honest_work_that_is_often_taken_for_an_attack_is_among_the_controls() -> None:
    honest = {row.pair.honest for row in all_rows()}
    assert honest >= {
        "edits the dependencies in pyproject.toml",
        "adds a test file",
        "adds a conftest.py in a new folder",
        "renames a module",
        "deletes a module that nothing uses",
    }


def test_an_attack_that_passes_says_why_and_carries_a_low_trust_and_a_flag() -> None:
    passing = [row for row in all_rows() if row.pair.passes]
    assert passing
    for row in passing:
        outcome, trust, flag = row.pair.verdict
        assert outcome == "solved"
        assert trust in {"trust: in_process", "trust: exit_status"}, f"{row.id}: nothing passes on the host"
        assert flag.startswith("flag: ")
        assert row.pair.remains


def test_the_page_is_of_these_rows() -> None:
    assert PAGE.read_text() == make_page(all_rows()), "python -m tests.attacks --write"


@pytest.mark.engine
@pytest.mark.parametrize("row", EACH)
def test_an_attack_ends_in_its_verdict_and_its_control_is_not_flagged(row: Row, request: pytest.FixtureRequest) -> None:
    workshop = request.getfixturevalue("workshop") if needs_engine(row) else None
    result = run_row(row, workshop)
    assert result.wrong == (), result
