"""A certified run is alone on its host; what can't be certified is a mistake before anything begins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.energy.hostlock import VARIABLE, lock_file, measuring
from harness.errors import GateError, InfraError
from harness.ledger import Ledger
from tests.cli_rig import trialbox
from tests.plans import plan
from trialbox.request import Request
from trialbox.running import planned

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def held(path: Path, *, alone: bool) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the host."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path; from harness.energy.hostlock import measuring\n"
        f"with measuring(Path({str(path)!r}), alone={alone}): print('held', flush=True); sys.stdin.read()\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "held\n"
    yield child
    child.communicate()


def test_a_certified_run_is_alone_and_others_are_together(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, alone=False):
        with measuring(path, alone=False):
            pass
        with pytest.raises(GateError, match="another trialbox runs on this host"), measuring(path, alone=True):
            pass
    with held(path, alone=True) as child:
        for alone in (False, True):
            with pytest.raises(GateError), measuring(path, alone=alone):
                pass
        child.kill()
        child.wait()
        with measuring(path, alone=True):
            pass


def test_the_lock_is_the_host_s_unless_the_environment_names_another(tmp_path: Path) -> None:
    assert lock_file({VARIABLE: str(tmp_path / "x")}) == tmp_path / "x"
    assert lock_file({}).name == "trialbox-host.lock"
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "no" / "folder", tmp_path / "link"):
        with pytest.raises(InfraError, match=VARIABLE), measuring(path, alone=False):
            pass
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["smoke", "--certified", "--energy", "estimator"], "the meter estimator measures nothing"),
        (["smoke", "--certified", "--energy", "off"], "the meter off measures nothing"),
        (["smoke", "--certified", "--concurrency", "2"], "one attempt at a time"),
        (["--resume", "latest", "--certified"], "a resumed run keeps what it was planned with"),
    ],
)
def test_what_cannot_be_certified_is_a_mistake(tmp_path: Path, arguments: list[str], said: str) -> None:
    ran = trialbox(tmp_path / "state", "run", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.line
    assert not (tmp_path / "state").exists()


@pytest.mark.skipif(os.path.exists("/sys/class/powercap/intel-rapl"), reason="this host has counters")  # noqa: PTH110
def test_a_host_without_counters_certifies_nothing(tmp_path: Path) -> None:
    ran = trialbox(tmp_path / "state", "run", "smoke", "--certified")
    assert ran.code == 2
    assert "no energy counter reads here" in ran.line


def test_a_run_that_is_not_certified_waits_for_the_host_too(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held(path, alone=True):
        ran = trialbox(tmp_path / "state", "run", "smoke", "--limit", "1", **{VARIABLE: str(path)})
    assert ran.code == 4
    assert "a certified run measures on this host" in ran.line


def test_a_resumed_run_stays_certified_and_older_options_are_not(tmp_path: Path) -> None:
    request = Request("smoke", ("noop",), certified=True)
    old = {name: value for name, value in Request("smoke", ("noop",)).to_options().items() if name != "certified"}
    with Ledger(tmp_path / "ledger.db") as ledger:
        for options, certified in ((request.to_options(), True), (old, False)):
            run = ledger.run(ledger.create_run(plan(), options))
            assert planned(run).certified is certified
