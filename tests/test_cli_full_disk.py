"""A disk that fills while a run is under way: one line, exit 3, nothing lost, and the run goes on later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from tests.cli_rig import trialbox
from tests.disks import disk
from tests.test_cli_run import SMALL, left_behind, started, wait_for_plan

pytestmark = pytest.mark.engine


def test_the_run_stops_with_one_line_and_goes_on_later(
    engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path
) -> None:
    with disk(tmp_path / "state", kib=40 << 10) as home:
        run = started(home, *SMALL)
        wait_for_plan(home)
        with pytest.raises(OSError, match="No space"), (home / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(os.urandom(1 << 12))
        _, said = run.communicate(timeout=120)
        assert run.returncode == 3, said
        assert "Traceback" not in said
        assert "the disk is full" in said.strip().splitlines()[-1]
        (home / "ballast").unlink()
        resumed = trialbox(home, "run", "--resume", "latest", "--json")
        assert resumed.code == 0, resumed.err
        assert trialbox(home, "card", "verify", resumed.json["card"]).code == 0
        assert left_behind(engine, home) == []
