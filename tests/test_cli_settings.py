"""The user's own settings, and what a run takes where nothing is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.state import State
from trialbox import places
from trialbox.request import Request, select
from trialbox.settings import CONFIG, read_settings, watts

CORES = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 4)


def state(folder: Path, text: str | None = None) -> State:
    if text is not None:
        (folder / CONFIG).write_text(text)
    return State(folder)


def test_watts_come_from_the_option_the_environment_the_settings_then_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JOULE_BENCH_ACTIVE_WATTS", raising=False)
    assert tuple(watts(None, state(tmp_path))) == ("15", "default")
    there = state(tmp_path, '[energy]\nactive_watts = "27.5"\n')
    assert tuple(watts(None, there)) == ("27.5", "configuration")
    monkeypatch.setenv("JOULE_BENCH_ACTIVE_WATTS", "31")
    assert tuple(watts(None, there)) == ("31", "JOULE_BENCH_ACTIVE_WATTS")
    assert tuple(watts("8", there)) == ("8", "option")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[energy\n", "is not TOML"),
        ("[power]\n", "power"),
        ("[energy]\nactive_watts = 27.5\n", "energy.active_watts"),
        ('[energy]\nactive_watts = "many"\n', "active_watts: 'many' is not a number of watts"),
    ],
)
def test_wrong_settings_are_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        watts(None, state(tmp_path, text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_file_the_settings_are_the_defaults(tmp_path: Path) -> None:
    assert read_settings(state(tmp_path)).energy.active_watts is None


def test_scripted_solvers_share_the_cores_and_others_go_one_by_one() -> None:
    tasks = places.data_folder("tasks")

    def at_once(*solvers: str, concurrency: int | None = None) -> int:
        return select(Request("smoke", solvers, concurrency=concurrency), tasks).concurrency

    assert at_once("reference,noop,wrong") == CORES
    assert at_once("reference", "command:true") == 1
    assert at_once("reference", concurrency=3) == 3
    assert at_once("command:true", concurrency=3) == 3
