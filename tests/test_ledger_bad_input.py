"""Damaged ledgers, read-only and full disks, two commands at once: each one clear line, and nothing lost."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import ExitCode, InfraError, UserError
from harness.ledger import CacheKind, Ledger
from harness.outcomes import Outcome
from harness.state import State, find_state
from harness.store import LocalStore
from tests.disks import disk
from tests.plans import plan, record

ROOT = Path(__file__).resolve().parent.parent


def one_line(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert ";" in text, "no remedy"
    return text


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    where = tmp_path / "ledger.db"
    with Ledger(where) as ledger:
        for _ in range(20):
            ledger.create_run(plan(4, 8, 2), {})
    return where


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    with disk(tmp_path / "tiny") as folder:
        yield folder


def test_a_damaged_page_is_named(filled: Path) -> None:
    data = bytearray(filled.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 200] = b"\xff" * 200
    filled.write_bytes(bytes(data))
    with pytest.raises(InfraError) as caught:
        Ledger(filled)
    assert "the ledger is damaged" in one_line(caught.value)


@pytest.mark.parametrize("page", range(1, 12))
def test_any_single_damaged_page_is_noticed_or_harmless(filled: Path, page: int) -> None:
    data = bytearray(filled.read_bytes())
    data[page * 4096 : (page + 1) * 4096] = os.urandom(4096)
    filled.write_bytes(bytes(data))
    with pytest.raises(InfraError) as caught, Ledger(filled) as ledger:
        for run in ledger.runs():
            ledger.pending(run.id)
    assert "the ledger is damaged" in one_line(caught.value)


def test_a_cut_file_is_named(filled: Path) -> None:
    filled.write_bytes(filled.read_bytes()[:-5000])
    with pytest.raises(InfraError) as caught:
        Ledger(filled)
    assert "damaged" in one_line(caught.value)


def test_another_file_in_its_place_is_named(tmp_path: Path) -> None:
    text, other, later = (tmp_path / name for name in ("text.db", "other.db", "later.db"))
    text.write_text("this is no database " * 100)
    with sqlite3.connect(other) as raw:
        raw.execute("CREATE TABLE t (x)")
    Ledger(later).close()
    with sqlite3.connect(later) as raw:
        raw.execute("PRAGMA user_version = 99")
    for path, words in ((text, "damaged"), (other, "is not a trialbox ledger"), (later, "version 99")):
        with pytest.raises(InfraError) as caught:
            Ledger(path)
        assert words in one_line(caught.value)


def test_a_bad_value_in_a_sound_page_is_named(filled: Path) -> None:
    with sqlite3.connect(filled) as raw:
        raw.execute("UPDATE runs SET plan = replace(plan, '\"attempts\"', '\"attemptz\"')")
    with Ledger(filled) as ledger, pytest.raises(InfraError) as caught:
        ledger.runs()
    assert "damaged" in one_line(caught.value)


def test_a_plan_that_was_changed_in_a_sound_page_is_named(filled: Path) -> None:
    with sqlite3.connect(filled) as raw:
        raw.execute("UPDATE runs SET plan = replace(plan, '\"attempts\":', '\"attempts\":1')")
    with Ledger(filled) as ledger, pytest.raises(InfraError, match="not the one that was written down"):
        ledger.run("latest")


def test_a_full_disk_is_named_and_what_was_kept_stays(tiny_disk: Path) -> None:
    with Ledger(tiny_disk / "ledger.db") as ledger:
        run_id = ledger.create_run(plan(2, 2, 1), {})
        cells = ledger.pending(run_id)
        ledger.finish(run_id, cells[0], ledger.start_try(run_id, cells[0]), Outcome.SOLVED, record("a"), terminal=True)
        with pytest.raises(InfraError) as caught:
            for _ in range(100):
                ledger.create_run(plan(10, 10, 4), {})
        assert "the disk is full" in one_line(caught.value)
        runs = len(ledger.runs())
    with pytest.raises(InfraError) as full:
        for n in range(2000):
            LocalStore(tiny_disk / "blobs").put(os.urandom(4096) + bytes([n % 256]), "a/b")
    assert "the disk is full" in one_line(full.value)
    for path in sorted((tiny_disk / "blobs").rglob("*"))[-40:]:
        if path.is_file():
            path.unlink()
    with Ledger(tiny_disk / "ledger.db") as ledger:
        assert len(ledger.runs()) == runs
        assert set(ledger.results(run_id)) == {cells[0]}
        assert ledger.pending(run_id) == cells[1:]


def test_a_nearly_full_disk_refuses_a_run(tiny_disk: Path) -> None:
    with pytest.raises(InfraError) as caught:
        State(tiny_disk).prepare()
    assert "the disk is full" in one_line(caught.value)


def test_a_folder_that_is_a_file_and_a_read_only_folder_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfraError) as caught:
        State(tmp_path / "file" / "state").prepare()
    one_line(caught.value)
    folder = tmp_path / "ro"
    with disk(folder, read_only=True):
        for act in (State(folder).prepare, lambda: Ledger(folder / "ledger.db"), State(folder).locked().__enter__):
            with pytest.raises(InfraError) as caught:
                act()
            assert "written" in one_line(caught.value)
            assert caught.value.exit_code is ExitCode.INFRA


def test_a_second_command_is_refused_until_the_first_is_dead(tmp_path: Path) -> None:
    state = State(tmp_path / "state")
    program = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from pathlib import Path; from harness.state import State\n"
        f"with State(Path({str(state.root)!r})).locked(): print('held', flush=True); time.sleep(600)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    with pytest.raises(UserError) as caught, state.locked():
        pass
    assert f"process {child.pid}" in one_line(caught.value)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with state.locked():
        pass


def test_the_state_folder_is_the_environment_s_or_the_current_one_s(tmp_path: Path) -> None:
    assert find_state({}, tmp_path).root == tmp_path / ".trialbox"
    named = find_state({"TRIALBOX_HOME": "here"}, tmp_path)
    assert named.root == tmp_path / "here"
    assert named.owner != find_state({}, tmp_path).owner
    assert named.owner == State(tmp_path / "here").owner


def test_a_ledger_of_version_1_is_brought_up_to_date_with_its_runs(tmp_path):
    with Ledger(tmp_path / "ledger.db") as ledger:
        run = ledger.create_run(plan(), {})
    with sqlite3.connect(tmp_path / "ledger.db") as raw:
        raw.execute("PRAGMA user_version = 1")
        raw.execute("DROP TABLE cached")
        raw.execute("DROP TABLE spend")
        raw.execute("DROP TABLE chain")
        raw.execute("DROP TABLE published")
        raw.execute("CREATE TABLE cached (kind TEXT NOT NULL CHECK (kind = 'seed'), key TEXT, blob TEXT) STRICT")
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert ledger.run("latest").id == run
        ledger.keep(CacheKind.ADMISSION, "key", record("kept"))
        assert ledger.cached(CacheKind.ADMISSION, "key") == record("kept")
