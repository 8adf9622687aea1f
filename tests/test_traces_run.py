"""`trialbox run` traces every attempt, and no score knows of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.engine.client import Engine
from harness.evidence import AttemptRecord
from harness.ledger import Ledger
from harness.records import Coverage, from_json, to_json
from harness.store import LocalStore
from harness.traces.records import DENIED, FILESYSTEM, PathLine, read_lines
from harness.traces.rights import problems
from scoring.card import Card
from tests.cli_rig import trialbox

pytestmark = pytest.mark.engine


def test_a_run_has_its_traces_and_its_core_has_none(engine: Engine, tmp_path: Path) -> None:
    ran = trialbox(tmp_path, "run", "smoke", "--solver", "reference", "--task", "purl-rows", "--json")
    assert ran.code == 0, ran.err
    store = LocalStore(tmp_path / "blobs")
    with Ledger(tmp_path / "ledger.db") as ledger:
        (ended,) = ledger.results(ran.json["run"]).values()
    traces = {one.channel: one for one in from_json(AttemptRecord, store.get(ended.record.digest)).traces}
    for channel, problem in problems(same_kernel=engine.info.same_kernel).items():
        assert traces[channel].coverage is (Coverage.NONE if problem else Coverage.FULL), traces[channel].reason
    if traces[FILESYSTEM].lines is not None:
        lines = list(read_lines(store.get(traces[FILESYSTEM].lines.digest).splitlines()))
        written = {one.path for one in lines if isinstance(one, PathLine) and one.op == "close_write"}
        assert any(path.startswith("/workspace/") for path in written)
    (path,) = (tmp_path / "cards").glob("*.json")
    card = from_json(Card, path.read_bytes())
    assert not any(
        name in json.dumps(json.loads(to_json(card.core))) for name in (FILESYSTEM, f'"{DENIED}"', "coverage")
    )
    assert card.stamp.audit.channels[FILESYSTEM].full + card.stamp.audit.channels[FILESYSTEM].none == 1
