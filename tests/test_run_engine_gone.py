"""An engine that goes away in mid-run: one line, exit 3, and the run goes on where it was once there is one again."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.engine.daemon import PrivateDaemon
from harness.engine.debian import install_docker, installed
from harness.engine.images import BuiltImage
from harness.ledger import Ledger
from tests.cli_rig import trialbox
from tests.test_cli_run import started

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SLOW = ("run", "smoke", "--solver", "command:sleep 8", "--task", "bead-string")


@pytest.fixture
def daemon(images: Mapping[str, BuiltImage], tmp_path: Path) -> Iterator[PrivateDaemon]:
    if not installed("dockerd"):
        install_docker(print)
    run = Path(tempfile.mkdtemp(prefix="tbg.", dir="/run"))
    private = PrivateDaemon(tmp_path / "data", run)
    yield private
    private.stop()
    shutil.rmtree(run)


def test_the_run_stops_with_one_line_and_goes_on_later(daemon: PrivateDaemon, tmp_path: Path) -> None:
    home = tmp_path / "state"
    with daemon.hold(keep=False, notify=print) as url:
        assert trialbox(home, "images", "build", DOCKER_HOST=url).code == 0
        run = started(home, *SLOW, DOCKER_HOST=url)
        _wait_for_try(home)
        time.sleep(4)
        for pid in daemon.pids():
            os.kill(pid, signal.SIGKILL)
        _, said = run.communicate(timeout=90)
    last = said.strip().splitlines()[-1]
    assert run.returncode == 3, said
    assert "stopped answering" in last or "closed the stream" in last
    assert "resume" in last
    with daemon.hold(keep=False, notify=print) as url:
        again = trialbox(home, "run", "--resume", "latest", "--json", DOCKER_HOST=url)
        assert again.code == 0, again.err
    with Ledger(home / "ledger.db") as ledger:
        states = [one.state.value for one in ledger.tries(ledger.run("latest").id)]
    assert states == ["abandoned", "ended"]


def _wait_for_try(home: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (home / "ledger.db").exists():
            with Ledger(home / "ledger.db") as ledger:
                if any(ledger.tries(run.id) for run in ledger.runs()):
                    return
        time.sleep(0.2)
    raise AssertionError("no try began")
