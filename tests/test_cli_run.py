"""``trialbox run`` in real containers: the same core every time, however often the run is killed."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.owned import STATE_LABEL
from harness.ledger import Ledger
from harness.state import State
from tests.cli_rig import heed_signals, trialbox

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parent.parent

SMALL = ("run", "smoke", "--solver", "reference,noop", "--limit", "1")


def started(home: Path, *arguments: str, program: str = "trialbox.cli", **environ: str) -> subprocess.Popen[str]:
    """A run in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", program, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home.parent,
        preexec_fn=heed_signals,  # noqa: PLW1509 - no thread of a test runs while it starts one
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
            "TRIALBOX_HOME": str(home),
            **environ,
        },
    )


def left_behind(engine: Engine, home: Path) -> list[str]:
    """What of this state folder is still in the engine."""
    label = {"label": f"{STATE_LABEL}={State(home).owner}"}
    containers = [str(one["Id"]) for one in engine.api.containers(all=True, filters=label)]
    return containers + [str(one["Name"]) for one in engine.api.volumes(filters=label)["Volumes"] or ()]


def test_two_runs_give_one_core_and_a_whole_card(engine: Engine, images: dict[str, BuiltImage], tmp_path: Path) -> None:
    home = tmp_path / "state"
    first = trialbox(home, *SMALL, "--json", "--keep-workspaces", "--out", str(tmp_path / "card.json"))
    assert first.code == 0, first.err
    assert set(first.json) >= {"run", "card", "core_digest"}
    assert {name: row["solved"] for name, row in first.json["solvers"].items()} == {"reference": 1, "noop": 0}
    assert "attempt ended" in first.err
    second = trialbox(home, *SMALL, "--concurrency", "2")
    assert second.code == 0, second.err
    assert second.out.splitlines()[-1].startswith("card sha256:")
    assert "~" in second.out
    cards = trialbox(home, "card", "list", "--json").json["cards"]
    assert {one["core_digest"] for one in cards} == {first.json["core_digest"]}
    assert "known runs of it: 2" in second.out
    assert trialbox(home, "card", "verify", str(tmp_path / "card.json")).code == 0
    gc = trialbox(home, "gc", "--json")
    assert gc.json["kept"] == []
    assert all(trialbox(home, "card", "verify", one["id"]).code == 0 for one in cards)
    assert left_behind(engine, home) == []
    assert trialbox(home, "report", "latest", "--json").json["workspaces"] == {}
    kept = trialbox(home, "report", first.json["run"], "--json").json["workspaces"]
    assert [key.split("/")[0] for key in kept] == ["reference", "noop"]
    for name in kept.values():
        with tarfile.open(home / "blobs" / "sha256" / name[7:9] / name[9:]) as tar:
            assert all(member.isfile() or member.issym() or member.isdir() for member in tar)
            assert any(member.isfile() for member in tar)


def test_a_changed_suite_under_a_locked_version_says_so(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    home, suite = tmp_path / "state", tmp_path / "smoke"
    shutil.copytree(ROOT / "tasks" / "smoke", suite)
    arguments = ("run", str(suite), "--task", "bead-string", "--solver", "noop", "--energy", "off")
    whole = trialbox(home, *arguments)
    assert whole.code == 0, whole.err
    assert "locked" not in whole.out + whole.err
    hidden = next(path for path in sorted((suite / "seed-vault" / "hidden").iterdir()) if path.suffix == ".json")
    hidden.write_text(hidden.read_text() + "\n")
    ran = trialbox(home, *arguments)
    assert ran.code == 0, ran.err
    assert "smoke is not what 1.0.1 was locked as: the card says so and can't be published" in ran.err
    assert "the suite is not what its version was locked as; not publishable" in ran.out
    refused = trialbox(home, "card", "publish", "latest")
    assert refused.code == 4
    assert "suite lock: smoke 1.0.1 is not what that version was locked as (put the suite's files" in refused.err


def test_an_older_version_runs_from_what_was_kept(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    home = tmp_path / "state"
    ran = trialbox(home, "run", "smoke@1.0.0", "--solver", "reference,noop", "--energy", "off")
    assert ran.code == 0, ran.err
    assert "smoke 1.0.0, 4 tasks, 1 attempt each" in ran.out
    assert "locked" not in ran.out + ran.err
    card = json.loads(next((home / "cards").glob("?" * 64 + ".json")).read_text())
    lock = json.loads((ROOT / "tasks/smoke/suite.lock.json").read_text())
    assert card["core"]["plan"]["suite"] == {"name": "smoke", "version": "1.0.0", "hash": lock["history"]["1.0.0"]}
    assert card["stamp"]["run"]["suite_lock"] == "locked"
    rows = card["core"]["aggregates"]
    assert {name: row["solved"] for name, row in rows.items()} == {"reference": 4, "noop": 0}
    assert trialbox(home, "card", "verify", "latest").code == 0
    unknown = trialbox(home, "run", "smoke@0.9.0")
    assert (unknown.code, "is no version that was locked; current: 1.0.1; kept: 1.0.0" in unknown.line) == (2, True)


@pytest.mark.parametrize(
    "told", [(signal.SIGTERM,), (signal.SIGHUP,), (signal.SIGINT,) * 5], ids=["terminated", "hung up", "five times"]
)
def test_a_run_that_is_told_to_stop_says_how_to_go_on(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path, told: tuple[signal.Signals, ...]
) -> None:
    home = tmp_path / "state"
    run = started(home, "run", "smoke", "--solver", "command:sleep 50", "--limit", "1")
    wait_for_plan(home)
    time.sleep(2)
    for one in told:
        run.send_signal(one)
        time.sleep(0.2)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "go on with `trialbox run --resume" in err.splitlines()[-1]
    assert "Traceback" not in err
    assert left_behind(engine, home) == []
    other = trialbox(home, "run", "--resume", "latest", "--solver", "noop")
    assert other.code == 2


def test_a_resumed_run_refuses_another_plan(engine: Engine, images: dict[str, BuiltImage], tmp_path: Path) -> None:
    home = tmp_path / "state"
    solver = tmp_path / "mine.toml"
    text = 'schema = 1\nname = "mine"\ndriver = "command"\nargv = ["sleep", "{}"]\n'
    solver.write_text(text.format(50))
    run = started(home, "run", "smoke", "--solver", str(solver), "--limit", "1")
    wait_for_plan(home)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    solver.write_text(text.format(1))
    refused = trialbox(home, "run", "--resume", "latest")
    assert refused.code == 2
    assert "its solvers changed since it was planned" in refused.line


def test_an_idle_power_that_moves_during_a_run_is_flagged_on_the_card(
    engine: Engine, images: dict[str, BuiltImage], tmp_path: Path
) -> None:
    home, driver = tmp_path / "state", tmp_path / "driver"
    board = "count 1\nname0 Board\npower0 1\nlimit0 700000\nmig0 0\nvirtual0 0\ninstant0 "

    def draw(milliwatts: int) -> None:
        driver.with_suffix(".new").write_text(f"{board}{milliwatts}\n")
        driver.with_suffix(".new").replace(driver)

    draw(50_000)
    arguments = ("run", "smoke", "--solver", "command:sleep 3", "--limit", "1", "--energy", "nvml")
    run = started(home, *arguments, program="tests.cli_on_a_board", NVML_STUB=str(driver))
    wait_for_plan(home)
    calibrated = False
    for turn in itertools.count():
        if run.poll() is not None:
            break
        draw((80_000 if calibrated else 50_000) + turn % 2 * 100)
        if turn % 20 == 0 and not calibrated:
            with Ledger(home / "ledger.db") as ledger:
                calibrated = bool(ledger.tries(ledger.runs()[0].id))
        time.sleep(0.01)
    assert run.returncode == 0, run.communicate()[1]
    card = trialbox(home, "card", "show", "--json").json
    energy = card["measured"]["cells"][0]["energy"]
    assert card["stamp"]["idle_after"]["power_uw"] > 79_000_000
    assert "idle_drift" in energy["flags"]
    assert trialbox(home, "card", "verify", "latest").code == 0


def wait_for_plan(home: Path) -> None:
    """Until the run is in the ledger."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (home / "ledger.db").exists():
            with Ledger(home / "ledger.db") as ledger:
                if ledger.runs():
                    return
        time.sleep(0.1)
    raise AssertionError("the run did not begin")
