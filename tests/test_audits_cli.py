"""`trialbox audit` of what is no file to audit: one line, and never the code that says an attack was found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli_rig import trialbox


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_there_and_no_regular_file_is_said_to_be_none(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "log.jsonl"
    if kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    ran = trialbox(tmp_path / "home", "audit", str(place))
    assert (ran.code, len(ran.err.strip().splitlines())) == (2, 1)
    assert "is no regular file" in ran.err


@pytest.mark.parametrize("command", ["audit", "report", "compare"])
def test_a_name_that_no_file_can_have_is_a_mistake_of_whoever_gave_it(tmp_path: Path, command: str) -> None:
    ran = trialbox(tmp_path / "home", command, "a" * 5000)
    assert (ran.code, len(ran.err.strip().splitlines())) == (2, 1)
    assert "too long" in ran.err


def test_a_damaged_card_is_not_an_attack(tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    card.write_bytes(b'{"core":{')
    ran = trialbox(tmp_path / "home", "audit", str(card))
    assert (ran.code, len(ran.err.strip().splitlines())) == (3, 1)
