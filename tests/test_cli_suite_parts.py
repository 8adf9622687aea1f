"""``suite show`` and ``suite list`` of what is malformed in part: the rest is shown, and never as the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_rig import trialbox
from tests.suites_rig import edit, write_suite
from trialbox import cli, places


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_suite(tmp_path / "tasks" / "little")


def test_a_suite_with_a_malformed_task_is_shown_in_part(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    whole = trialbox(home, "suite", "show", str(folder), "--json")
    assert (whole.code, whole.json["errors"], whole.json["kept"]) == (0, [], [])
    assert {one["id"]: one["decontaminated"] for one in whole.json["tasks"]} == {"adder": True, "plain-adder": None}
    edit(folder / "adder/task.toml", 'oracle = "cases"', 'oracle = "guesses"')
    stopped = trialbox(home, "suite", "show", str(folder))
    assert (stopped.code, stopped.out) == (2, "")
    part = trialbox(home, "suite", "show", str(folder), "--keep-going", "--json")
    assert (part.code, part.json["hash"]) == (1, None)
    assert [one["id"] for one in part.json["tasks"]] == ["plain-adder"]
    (error,) = part.json["errors"]
    assert "adder/task.toml" in error["where"]
    shown = trialbox(home, "suite", "show", str(folder), "--keep-going")
    assert shown.code == 1
    assert shown.out.splitlines()[0] == "little 1.0.0 partial: 1 of 2 tasks; the suite has no identity"
    assert shown.out.splitlines()[-1].startswith(f"left out: {folder}/adder/task.toml")


def test_a_claim_that_the_dates_deny_is_shown_as_none(folder: Path, tmp_path: Path) -> None:
    edit(folder / "adder/task.toml", "created = 2026-11-30", "created = 2015-01-01\npublished = 2015-01-02")
    shown = trialbox(tmp_path / "home", "suite", "show", str(folder), "--json")
    assert {one["id"]: one["decontaminated"] for one in shown.json["tasks"]} == {"adder": False, "plain-adder": None}


def test_suites_that_can_not_be_read_are_named_in_the_list(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_suite(folder.parent / "other")
    monkeypatch.setattr(places, "CODE", folder.parent.parent)
    assert cli.main(["suite", "list"]) == 2
    capsys.readouterr()
    assert cli.main(["suite", "list", "--keep-going"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("little 1.0.0  2 tasks")
    assert second.startswith("left out: ")
    assert "other/suite.toml: name" in second
