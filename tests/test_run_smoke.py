"""The whole smoke suite: one core digest, whatever the engine, the concurrency, or how often the run is killed."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.energy.records import Provenance
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.records import from_json
from harness.store import LocalStore
from tests import podman
from tests.cli_rig import trialbox
from tests.test_cli_run import left_behind, started

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SMOKE = ("run", "smoke", "--solver", "reference,noop,wrong")
KILLS = 30


@pytest.fixture(scope="module")
def calm(
    engine: Engine, images: Mapping[str, BuiltImage], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any]:
    """An undisturbed run: its state folder and what it printed."""
    home = tmp_path_factory.mktemp("calm") / "state"
    ran = trialbox(home, *SMOKE, "--json")
    assert ran.code == 0, ran.err
    return home, ran.json


def test_the_ladder_of_scripted_solvers(calm: tuple[Path, Any]) -> None:
    _, printed = calm
    assert {name: (row["solved"], row["planned"]) for name, row in printed["solvers"].items()} == {
        "reference": (4, 4),
        "noop": (0, 4),
        "wrong": (0, 4),
    }


def test_every_energy_figure_has_its_provenance_and_its_mark(calm: tuple[Path, Any]) -> None:
    home, printed = calm
    store = LocalStore(home / "blobs")
    with Ledger(home / "ledger.db") as ledger:
        ended = ledger.results(printed["run"])
    assert len(ended) == 12
    for one in ended.values():
        energy = from_json(AttemptRecord, store.get(one.record.digest)).solve.energy
        assert energy.provenance in set(Provenance)
        assert energy.mark == "~"
    report = trialbox(home, "report", "latest").out
    for line in report.splitlines():
        if any(f" {solver} " in line for solver in ("reference", "noop", "wrong")) and "/" in line and "(" in line:
            assert "~" in line, line


def test_a_second_run_at_another_concurrency_has_the_same_core(calm: tuple[Path, Any]) -> None:
    home, printed = calm
    again = trialbox(home, *SMOKE, "--concurrency", "3", "--json")
    assert again.code == 0, again.err
    assert again.json["core_digest"] == printed["core_digest"]
    assert again.json["card"] != printed["card"], "times and energies differ"


def test_podman_gives_the_same_core(calm: tuple[Path, Any], tmp_path: Path) -> None:
    _, printed = calm
    podman.ensure_installed()
    with podman.podman_service(tmp_path) as address:
        ran = trialbox(tmp_path / "state", *SMOKE, "--json", DOCKER_HOST=address)
    assert ran.code == 0, ran.err
    assert ran.json["core_digest"] == printed["core_digest"]


def test_killed_at_thirty_random_moments_and_resumed(engine: Engine, calm: tuple[Path, Any], tmp_path: Path) -> None:
    """Each run is killed until it ends; runs are begun until there were thirty kills."""
    _, printed = calm
    moments = random.Random(20261130)
    kills = runs = 0
    while kills < KILLS:
        runs += 1
        home = tmp_path / f"state{runs}"
        while True:
            run = started(home, *(("run", "--resume", "latest") if _runs(home) else SMOKE))
            try:
                run.communicate(timeout=moments.uniform(0.3, 5.0) if kills < KILLS else 300)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.communicate()
                kills += 1
                continue
            assert run.returncode == 0
            break
        done = trialbox(home, "run", "--resume", "latest", "--json")
        assert done.json["core_digest"] == printed["core_digest"]
        _each_cell_ended_once(home)
        assert left_behind(engine, home) == []
    time.sleep(0.5)
    assert not list(tmp_path.rglob("*.tmp")), "a half-written file was left"


def _runs(home: Path) -> bool:
    if not (home / "ledger.db").exists():
        return False
    with Ledger(home / "ledger.db") as ledger:
        return bool(ledger.runs())


def _each_cell_ended_once(home: Path) -> None:
    with Ledger(home / "ledger.db") as ledger:
        run = ledger.run("latest")
        ended = [one for one in ledger.tries(run.id) if one.outcome is not None]
        assert sorted(one.cell.key for one in ended) == sorted(cell.key for cell in run.plan.cells())
        assert ledger.pending(run.id) == ()
