"""The whole smoke suite: one core digest, whatever the engine, the concurrency, or how often the run is killed."""

from __future__ import annotations

import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.energy.records import Provenance
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.gateway.records import Bucket
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.script import Script, Turn
from harness.ledger import Ledger
from harness.records import Cell, from_json
from harness.store import LocalStore
from tests import podman
from tests.cli_rig import trialbox
from tests.test_cli_run import left_behind, started
from tests.test_gateway_isolation import local_addresses
from tests.test_run_models import PAID, USED, paid, run

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
        figures = any(f" {provenance.value}" in line for provenance in Provenance)
        if figures and any(f" {solver} " in line for solver in ("reference", "noop", "wrong")):
            assert "~" in line, line


def test_a_second_run_at_another_concurrency_has_the_same_core(calm: tuple[Path, Any]) -> None:
    home, printed = calm
    again = trialbox(home, *SMOKE, "--concurrency", "3", "--json")
    assert again.code == 0, again.err
    assert again.json["core_digest"] == printed["core_digest"]
    assert again.json["card"] != printed["card"], "times and energies differ"


@pytest.fixture(scope="module")
def podman_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Podman service; what it is asked for first takes it a while, since it has no image yet."""
    podman.ensure_installed()
    with podman.podman_service(tmp_path_factory.mktemp("podman")) as address:
        yield address


def test_podman_gives_the_same_core(calm: tuple[Path, Any], podman_address: str, tmp_path: Path) -> None:
    _, printed = calm
    ran = trialbox(tmp_path / "state", *SMOKE, "--json", DOCKER_HOST=podman_address)
    assert ran.code == 0, ran.err
    assert ran.json["core_digest"] == printed["core_digest"]


AGENT = '''
name = "prober"
driver = "cli"
api = "chat"
provider = "paid"
default_model = "%s"
key_env = ["AGENT_KEY"]
argv = ["python3", "-c", """
import json, os, socket, sys, urllib.request
ask = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(
    {"model": sys.argv[2], "messages": [{"role": "user", "content": "go"}]}).encode(),
    {"Authorization": "Bearer " + os.environ["AGENT_KEY"], "Content-Type": "application/json"})
said = {"answer": urllib.request.urlopen(ask).status}
for address in sys.argv[4].split():
    try:
        socket.create_connection((address, int(sys.argv[3])), timeout=5)
        said[address] = "reached"
    except OSError as error:
        said[address] = error.strerror or "timed out"
print(json.dumps(said))
""", "{base_url}", "{model}", "%d", "%s"]
'''


def test_a_worker_and_an_agent_that_ask_a_model_on_podman(podman_address: str, tmp_path: Path) -> None:
    """They are as sealed as on Docker, and their tokens are the provider's own truth."""
    home, manifest = tmp_path / "state", tmp_path / "prober.toml"
    with socket.socket() as server, ScriptedProvider() as provider:
        server.bind(("0.0.0.0", 0))  # what a container on a bridge would reach
        server.listen()
        port = server.getsockname()[1]
        outside = [one for one in local_addresses() if not one.startswith("127.")]
        assert outside
        manifest.write_text(AGENT % (PAID, port, " ".join(outside)))
        paid(home, provider, billing="local")
        key = provider.add(Script(turns=(Turn(say="```python\nx = 1\n```", usage=USED, done=True),)))
        solvers = f"worker:model={PAID},provider=paid,{manifest}"
        arguments = ("run", "functions", "--task", "kiln-slots", "--solver", solvers, "--real", "--json")
        ran = run(home, *arguments, PAID_KEY=key, DOCKER_HOST=podman_address)
        truth = provider.truth(key)
    assert ran.code == 0, ran.err
    assert len(truth) == 2
    for name in ("worker", "prober"):
        use = ran.json["measured"][name]["model"]
        assert (use["requests"], use["denied"], use["usage"]["completeness"]) == (1, 0, "complete")
        assert truth[0].usage is not None
        assert {one: use["usage"][one.value] for one in Bucket} == {one: truth[0].usage.of(one) for one in Bucket}
    store = LocalStore(home / "blobs")
    with Ledger(home / "ledger.db") as ledger:
        ended = ledger.results(ran.json["run"])
    record = from_json(
        AttemptRecord, store.get(ended[Cell(solver="prober", task="kiln-slots", attempt=1)].record.digest)
    )
    assert record.solve is not None
    said = json.loads(store.get(record.solve.stdout.digest))
    assert said.pop("answer") == 200
    assert set(said) == set(outside) and set(said.values()) == {"Network is unreachable"}
    assert (record.solve.seal.interfaces, record.solve.seal.routes_off_loopback) == (("lo",), 0)
    assert run(home, "card", "verify", "latest").code == 0


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
