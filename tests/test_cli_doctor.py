"""``trialbox doctor``: 0 where a run can work, 3 where it can't, and nothing made either way."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.engine.client import Engine
from tests.cli_rig import trialbox


def test_without_an_engine_no_run_can_work(tmp_path: Path) -> None:
    home = tmp_path / "state"
    ran = trialbox(home, "doctor", "--json", DOCKER_HOST="unix:///nowhere.sock")
    assert (ran.code, ran.err, ran.json["usable"]) == (3, "", False)
    lines = {line["part"]: line for line in ran.json["lines"]}
    assert lines["engine"]["state"] == "missing"
    assert lines["engine"]["remedy"]
    assert {"meter rapl", "meter nvml", "meter estimator"} <= set(lines)
    assert not home.exists()


@pytest.mark.engine
def test_with_an_engine_it_can(engine: Engine, tmp_path: Path) -> None:
    ran = trialbox(tmp_path / "state", "doctor")
    assert ran.code == 0, ran.out
    assert any(line.startswith("ok       engine: ") for line in ran.out.splitlines())
