"""A card comes out the same when its changes are graded again; what does not is named, with its cause."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.errors import UserError
from harness.oci.obtain import Sources
from harness.outcomes import Outcome
from harness.records import ImageRef
from harness.store import LocalStore
from scoring.card import Card
from tests.card_rig import blob_path
from tests.cli_rig import trialbox
from tests.conftest import ROOT
from tests.reproduce_rig import forged, write_dice
from tests.test_cli_run import left_behind

pytestmark = pytest.mark.engine

RUN = ("run", "smoke", "--task", "lantern-cues", "--energy", "off", "--json")
SOLVERS = ("--solver", "reference,noop,wrong", "--solver", "command:sleep 1")


@pytest.fixture(scope="module")
def home(engine: Engine, images: Mapping[str, BuiltImage], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with one card: four solvers, one task."""
    home = tmp_path_factory.mktemp("made") / "state"
    ran = trialbox(home, *RUN, *SOLVERS)
    assert ran.code == 0, ran.err
    return home


def card_of(home: Path) -> Card:
    (path,) = (home / "cards").glob("*.json")
    return Card.from_bytes(path.read_bytes(), "card")


def said(home: Path, *words: str, code: int = 0) -> Any:
    ran = trialbox(home, "reproduce", *words, "--json")
    assert ran.code == code, ran.err
    return ran.json


def test_a_card_reproduces_and_is_remembered_until_asked_afresh(home: Path, engine: Engine) -> None:
    first = said(home)
    assert first["core_digest_here"] == first["core_digest"] == card_of(home).core_digest
    assert (first["reproduced"], first["part"], first["differences"]) == (True, None, [])
    assert {one["basis"] for one in first["cells"]} == {"regraded"}
    assert {(one["name"], one["from"], one["published"]) for one in first["images"]} == {
        (name, "engine", True) for name in ("base", "python", "scanner")
    }
    assert {one["basis"] for one in said(home)["cells"]} == {"remembered"}
    assert {one["basis"] for one in said(home, "--fresh", "--sample", "1")["cells"]} == {"regraded", "recorded"}
    assert left_behind(engine, home) == []
    assert list((home / "cache").glob("reproduce-*")) == []


def test_a_sample_is_the_same_each_time_and_never_the_whole(home: Path) -> None:
    first, again, other = (said(home, "--sample", "2", "--seed", seed) for seed in ("1", "1", "5"))
    chosen = [
        [one["cell"] for one in run["cells"] if one["note"] != "not in the sample"] for run in (first, again, other)
    ]
    assert len(chosen[0]) == 2 and chosen[0] == chosen[1] != chosen[2]
    assert (first["reproduced"], first["core_digest_here"]) == (None, None)
    assert first["part"] == {"cells": 2, "of": 4, "seed": 1}
    text = trialbox(home, "reproduce", "--sample", "2").out
    assert "partial: 2 of 4 cells" in text and "\nreproduced" not in text
    assert said(home, "--sample", "4")["reproduced"] is True


def test_a_bundle_reproduces_in_an_empty_state_folder(home: Path, tmp_path: Path) -> None:
    """With the test engine's images: `nox -s reproduce` does it without any, and without a network."""
    bundle, away = tmp_path / "card.tar", tmp_path / "away"
    made = trialbox(home, "card", "bundle", "--output", str(bundle), "--without-images", "--json").json
    assert next(iter(made)) == "sizes"
    assert (made["core_digest"], made["images_left_out"]) == (card_of(home).core_digest, ["base", "python", "scanner"])
    assert made["bytes"] == bundle.stat().st_size
    run = said(away, str(bundle))
    assert (run["core_digest_here"], run["reproduced"]) == (card_of(home).core_digest, True)
    assert run["suite"] == "installed"
    assert trialbox(away, "card", "verify", str(bundle)).code == 0


def test_a_bundle_with_a_key_in_it_is_refused_and_not_written(home: Path, tmp_path: Path) -> None:
    key = (ROOT / "tasks" / "smoke" / "lantern-cues" / "task.toml").read_text().split('public = "')[1].split('"')[0]
    out = tmp_path / "leak.tar"
    words = ("card", "bundle", "--output", str(out), "--without-images")
    ran = trialbox(home, *words, SOMEBODYS_API_KEY=key)
    assert (ran.code, out.exists(), list(tmp_path.iterdir())) == (4, False, [])
    assert "tasks, application/vnd.trialbox.suite.v1.tar) holds the value of SOMEBODYS_API_KEY at line" in ran.err
    assert key not in ran.err


def test_a_signature_goes_along_in_a_bundle(home: Path, tmp_path: Path) -> None:
    key, bundle = tmp_path / "key", tmp_path / "signed/"
    signed = trialbox(home, "card", "sign", "--key", str(key), "--keygen", "--json")
    assert signed.code == 0, signed.err
    assert key.stat().st_mode & 0o777 == 0o600
    words = ("card", "verify", "--signature", "--key", f"{key}.pub")
    assert trialbox(home, *words, "--json").json["signature"] == {"ok": True, "keyids": [signed.json["keyid"]]}
    assert trialbox(home, "card", "bundle", "--output", f"{bundle}/", "--without-images").code == 0
    assert trialbox(home, *words, str(bundle)).code == 0
    assert trialbox(home, "card", "sign", "--key", str(key), "--keygen").code == 2
    Path(signed.json["signature"]).write_bytes(
        Path(signed.json["signature"]).read_bytes().replace(b'"sig":"', b'"sig":"AA', 1)
    )
    ran = trialbox(home, *words)
    assert ran.code == 1 and "signature: none of 1 is by key" in ran.out
    Path(signed.json["signature"]).unlink()
    ran = trialbox(home, *words)
    assert ran.code == 1 and "signature: there is none" in ran.out


def test_a_bundle_brings_its_own_suite(home: Path, tmp_path: Path) -> None:
    """A suite of the user's own is nowhere but in the bundle."""
    suite = tmp_path / "mine" / "smoke"
    shutil.copytree(Path(__file__).parent.parent / "tasks" / "smoke", suite)
    issue = suite / "lantern-cues" / "issue.md"
    issue.write_text(issue.read_text() + "\nThank you.\n")
    maker, bundle = tmp_path / "maker", tmp_path / "mine.tar"
    words = ("run", str(suite), "--task", "lantern-cues", "--solver", "reference", "--energy", "off")
    assert trialbox(maker, *words).code == 0
    assert trialbox(maker, "card", "bundle", "--output", str(bundle), "--without-images").code == 0
    shutil.rmtree(suite)
    refused = trialbox(maker, "reproduce")
    assert refused.code == 2 and "suite smoke (installed): task lantern-cues: has the score hash" in refused.err
    run = said(tmp_path / "away", str(bundle))
    assert (run["suite"], run["reproduced"]) == ("bundle", True)


def test_a_publisher_s_lie_is_found_stable_and_named_by_field(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "state")
    (path,) = (tmp_path / "state" / "cards").glob("*.json")
    card = card_of(home)

    def lie(record: Any) -> Any:
        verdicts = tuple(
            one.model_copy(update={"passed": True, "checks_passed": one.checks}) for one in record.grade.verdicts
        )
        grade = record.grade.model_copy(update={"verdicts": verdicts})
        return record.model_copy(update={"grade": grade, "outcome": Outcome.SOLVED})

    path.unlink()
    store = LocalStore(tmp_path / "state" / "blobs")
    lied = path.with_name("lie.json")
    lied.write_bytes(forged(card, store, "noop/lantern-cues/1", lie))
    assert trialbox(tmp_path / "state", "card", "verify", str(lied)).code == 0
    run = said(tmp_path / "state", str(lied), code=1)
    assert run["reproduced"] is False and run["core_digest_here"] == card.core_digest
    fields = {one["field"]: one for one in run["differences"]}
    assert fields["core.cells[1].outcome"] == {
        "field": "core.cells[1].outcome",
        "card": '"solved"',
        "here": '"failed"',
        "cell": "noop/lantern-cues/1",
        "cause": "task",
        "flaky": False,
    }
    assert any(name.startswith("core.aggregates.noop.") for name in fields)
    assert [(one["cell"]["solver"], one["flaky"]) for one in run["cells"] if one["flaky"] is not None] == [
        ("noop", False)
    ]


def test_a_task_of_chance_is_called_flaky_and_its_cell_is_named(
    engine: Engine, images: Mapping[str, BuiltImage], tmp_path: Path
) -> None:
    suite, home = write_dice(tmp_path / "dice"), tmp_path / "state"
    assert trialbox(home, "run", str(suite), "--solver", "reference,noop", "--energy", "off").code == 0
    ran = trialbox(home, "reproduce")
    assert ran.code == 1, ran.err
    lines = ran.out.splitlines()
    assert "cell reference/throw/1 is flaky: grading it again gives now this, now that" in lines
    assert not any("noop" in line for line in lines)
    fields = [line for line in lines if line.startswith("core.cells[0].verdicts[")]
    assert fields and all(line.endswith("likely nondeterminism (reference/throw/1, flaky)") for line in fields)
    assert lines[-1].startswith("not reproduced: the card's core is sha256:")


def test_what_can_t_be_reproduced_is_a_named_mistake(home: Path, tmp_path: Path) -> None:
    for words, code, named in (
        (("sha256:" + "0" * 64,), 2, "is no card of this state folder"),
        ((str(tmp_path / "no.tar"),), 2, "no such card"),
        (("--sample", "0"), 2, "--sample"),
        (("--concurrency", "0"), 2, "--concurrency"),
        (("--suite", str(tmp_path / "none")), 2, "is no folder"),
    ):
        ran = trialbox(home, "reproduce", *words)
        assert (ran.code, named in ran.err) == (code, True), ran.err
    shutil.copytree(home, tmp_path / "state")
    record = card_of(home).stamp.evidence[0].record
    assert record is not None
    blob_path(LocalStore(tmp_path / "state" / "blobs"), record).write_bytes(b"another")
    ran = trialbox(tmp_path / "state", "reproduce")
    assert ran.code == 2 and "now hashes to" in ran.err


def test_an_image_that_is_nowhere_is_named(home: Path, engine: Engine, tmp_path: Path) -> None:
    (base,) = (one for one in card_of(home).core.plan.images if one.name == "base")
    ref = base.model_copy(update={"id": "sha256:" + "1" * 64, "lock": "sha256:" + "2" * 64})
    with pytest.raises(UserError, match="neither in the engine nor in the bundle"):
        Sources(engine, None, {}, [ROOT / "images"], tmp_path, tmp_path, print).obtain(ref)
    ref = ImageRef(name="theirs", id="sha256:" + "1" * 64, lock="sha256:" + "2" * 64, locked=False)
    with pytest.raises(UserError, match="which this one doesn't have"):
        Sources(engine, None, {}, [ROOT / "images"], tmp_path, tmp_path, print).obtain(ref)
