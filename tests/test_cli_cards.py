"""The commands that read cards: what they print, and that an edited one is refused by each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.digest import loads
from harness.ledger import Ledger
from tests.card_rig import whole_run
from tests.cli_rig import trialbox
from tests.disks import disk, remount_read_only
from tests.plans import plan


@pytest.fixture
def home(tmp_path: Path) -> Path:
    whole_run(tmp_path / "state")
    return tmp_path / "state"


def card_file(home: Path) -> Path:
    return next((home / "cards").glob("*.json"))


def test_a_whole_card_lists_shows_reports_and_verifies(home: Path) -> None:
    identity = f"sha256:{card_file(home).stem}"
    card = loads(card_file(home).read_bytes())
    listed = trialbox(home, "card", "list", "--json")
    assert [one["id"] for one in listed.json["cards"]] == [identity]
    assert listed.json["cards"][0]["core_digest"] == card["core_digest"]
    assert identity in trialbox(home, "card", "list").out
    assert trialbox(home, "card", "show", identity, "--json").json == card
    for command in (("card", "show", identity[:20]), ("report", "latest"), ("report", str(card_file(home)))):
        shown = trialbox(home, *command)
        assert shown.code == 0
        assert shown.out.splitlines()[-1] == f"card {identity}"
        assert "mode dry, provider none" in shown.out
    report = trialbox(home, "report", identity, "--task", "t1", "--json").json
    assert (report["id"], report["core_digest"]) == (identity, card["core_digest"])
    assert {cell["cell"]["task"] for cell in report["cells"]} == {"t1"}
    verified = trialbox(home, "card", "verify", identity, "--json")
    assert verified.code == 0
    assert verified.json["ok"] is True
    assert trialbox(home, "card", "verify", str(card_file(home))).code == 0


def test_a_card_edited_by_hand_is_refused_and_named(home: Path) -> None:
    path = card_file(home)
    path.write_bytes(path.read_bytes().replace(b'"outcome":"partial"', b'"outcome":"solved"', 1))
    ran = trialbox(home, "card", "verify", "latest")
    assert ran.code == 1
    assert "core.cells: was changed" in ran.out
    assert "core.cells[1].outcome: is not what the evidence gives" in ran.out
    for command in (("report", "latest"), ("card", "show", "latest")):
        ran = trialbox(home, *command)
        assert (ran.code, ran.out) == (2, "")
        assert "core.cells: was changed" in ran.line
        assert len(ran.err.strip().splitlines()) == 1
    assert "DAMAGED" in trialbox(home, "card", "list").out


@pytest.mark.parametrize("data", [bytes(range(256)), b'{"schema_version":99}', b""])
def test_a_file_that_is_no_card_of_ours_is_a_user_s_mistake_and_not_whole(tmp_path: Path, data: bytes) -> None:
    file, state = tmp_path / "some.json", tmp_path / "state"
    file.write_bytes(data)
    for command in (
        ("compare", str(file), str(file), "--fail-on", "worse"),
        ("report", str(file)),
        ("card", "show", str(file)),
        ("card", "bundle", str(file), "--output", str(tmp_path / "out.tar")),
        ("card", "sign", str(file), "--key", str(tmp_path / "key"), "--keygen"),
        ("card", "publish", str(file)),
        ("reproduce", str(file)),
        ("suite", "export", str(file), "--to", "atif", "--output", str(tmp_path / "out")),
    ):
        ran = trialbox(state, *command, "--json")
        assert (ran.code, ran.json["error"]["exit_code"]) == (2, 2), (command, ran.err)
        assert len(ran.err.strip().splitlines()) == 1
    assert trialbox(state, "card", "verify", str(file)).code == 1
    assert not list(tmp_path.glob("out*")) and not list(tmp_path.glob("key*"))


def test_a_truncated_blob_is_named(home: Path) -> None:
    card = loads(card_file(home).read_bytes())
    record = next(one["record"] for one in card["stamp"]["evidence"] if one["record"])
    path = home / "blobs" / "sha256" / record["digest"][7:9] / record["digest"][9:]
    path.write_bytes(path.read_bytes()[:-7])
    ran = trialbox(home, "card", "verify", "latest", "--json")
    assert ran.code == 1
    assert record["digest"] in ran.json["problems"][0]


def test_one_that_is_not_there_is_a_user_s_mistake(home: Path) -> None:
    for command in (
        ("card", "verify", "0" * 64),
        ("card", "show", "abc"),
        ("report", "nothing/here.json"),
        ("report", "latest", "--task", "t9"),
    ):
        ran = trialbox(home, *command)
        assert ran.code == 2
        assert len(ran.err.strip().splitlines()) == 1
    ran = trialbox(home, "card", "verify", "0" * 64, "--json")
    assert ran.json["error"]["exit_code"] == 2


def test_a_run_is_reported_from_a_read_only_disk(home: Path) -> None:
    with Ledger(home / "ledger.db") as ledger:
        run_id = ledger.create_run(plan(), {})
        ledger.set_card(run_id, f"sha256:{card_file(home).stem}")
    written = home.parent / "written"
    home.rename(written)
    with disk(home, read_only=False, kib=8192):
        shutil.copytree(written, home, dirs_exist_ok=True)
        remount_read_only(home)
        assert trialbox(home, "report", run_id).out.splitlines()[-1] == f"card sha256:{card_file(home).stem}"


def test_a_run_without_a_card_says_how_to_get_one(home: Path) -> None:
    with Ledger(home / "ledger.db") as ledger:
        run_id = ledger.create_run(plan(), {})
    ran = trialbox(home, "report", run_id)
    assert ran.code == 2
    assert f"trialbox run --resume {run_id}" in ran.line


def test_gc_keeps_what_a_card_needs_and_removes_the_rest(home: Path) -> None:
    stray = home / "blobs" / "sha256" / "aa" / ("b" * 62)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"stray")
    half = home / "blobs" / "sha256" / ".stream.x.tmp"
    half.write_bytes(b"half")
    ran = trialbox(home, "gc", "--json", DOCKER_HOST="unix:///nowhere.sock")
    assert ran.code == 0
    assert (ran.json["blobs"], ran.json["files"], ran.json["bytes"], ran.json["engine_objects"]) == (1, 1, 9, None)
    assert not stray.exists()
    assert not half.exists()
    assert trialbox(home, "card", "verify", "latest").code == 0


def test_gc_removes_no_blob_while_a_card_cannot_be_read(home: Path) -> None:
    stray = home / "blobs" / "sha256" / "aa" / ("b" * 62)
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"stray")
    card_file(home).write_bytes(b"{}")
    ran = trialbox(home, "gc", DOCKER_HOST="unix:///nowhere.sock")
    assert ran.code == 0
    assert "kept: all blobs" in ran.out
    assert stray.exists()


def test_a_card_outside_its_folder_verifies_against_the_blobs_here(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mine.json"
    shutil.copy(card_file(home), copy)
    assert trialbox(home, "card", "verify", str(copy)).code == 0
    assert trialbox(tmp_path / "other", "card", "verify", str(copy)).code == 1
