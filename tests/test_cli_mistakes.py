"""Bad input: each one clear line with the remedy, the documented exit code, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.ledger import Ledger
from harness.state import State
from tests.cli_rig import Ran, trialbox
from tests.disks import disk
from tests.plans import plan
from trialbox.outfile import write_out

ROOT = Path(__file__).resolve().parent.parent


def one_line(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, ran.err
    assert ran.out == ""
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    assert ran.err.startswith("trialbox: ")
    for word in words:
        assert word in ran.err


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("run",), 2, "SUITE"),
        (("run", "nosuch"), 2, "known: "),
        (("run", "./nosuch"), 2, "no such folder"),
        (("run", "smoke", "--solver", "nosuch"), 2, "there is no solver 'nosuch'"),
        (("run", "smoke", "--solver", "noop,noop"), 2, "named twice"),
        (("run", "smoke", "--task", "nosuch"), 2, "its tasks are"),
        (("run", "smoke", "--attempts", "0"), 2, "--attempts"),
        (("run", "smoke", "--attempts", "99999999999"), 2, "give at most"),
        (("run", "smoke", "--rollouts", "0"), 2, "--rollouts"),
        (("run", "smoke", "--rollouts", "200", "--attempts", "200"), 2, "makes 40000 of each solver at each task"),
        (("run", "smoke", "--rollouts", "2", "--selector", "judge"), 2, "known: oracle, visible-tests"),
        (("run", "smoke", "--selector", "oracle"), 2, "add --rollouts N"),
        (("run", "smoke", "--concurrency", "0"), 2, "--concurrency"),
        (("run", "smoke", "--limit", "0"), 2, "--limit"),
        (("run", "smoke", "--energy", "wishes"), 2, "known: auto"),
        (("run", "smoke", "--real"), 4, "nothing was spent"),
        (("run", "smoke", "--resume", "latest"), 2, "keeps what it was planned with"),
        (("run", "--resume", "latest"), 2, "the last ones are: none"),
        (("run", "--resume", "latest", "--list"), 2, "leave it or --resume out"),
        (("report",), 2, "no card yet"),
        (("suite", "show", "nosuch"), 2, "known: "),
    ],
)
def test_a_mistake_is_one_line_and_starts_nothing(
    home: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    one_line(trialbox(home, *arguments), code, words)
    assert not (home / "blobs").exists() or not any((home / "blobs").iterdir())


def test_an_option_that_there_is_not_is_a_user_s_mistake(home: Path) -> None:
    assert trialbox(home, "run", "smoke", "--nosuch").code == 2
    assert trialbox(home, "nosuch").code == 2


def test_a_mistake_with_json_is_one_object(home: Path) -> None:
    ran = trialbox(home, "run", "nosuch", "--json")
    assert ran.code == 2
    assert set(ran.json["error"]) == {"where", "problem", "remedy", "exit_code"}


def test_a_malformed_task_is_named_by_file_and_key(home: Path, tmp_path: Path) -> None:
    suite = tmp_path / "mine"
    task = suite / "one"
    task.mkdir(parents=True)
    (suite / "suite.toml").write_text(
        'schema = 1\nname = "mine"\nversion = "1.0.0"\ndescription = "x"\ntasks = ["one"]\n'
    )
    one_line(trialbox(home, "run", str(suite)), 2, "task.toml")
    (task / "task.toml").write_text("schema = 1\nformat = ")
    one_line(trialbox(home, "run", str(suite)), 2, "task.toml")
    good = 'name = "x"\nprompt = "do"\ntest_cmd = "true"\ntest_files = ["t.py"]\n'
    (task / "task.toml").write_text(good + "wrongly = 1\n")
    one_line(trialbox(home, "run", str(suite)), 2, "task.toml", "wrongly")


def test_no_engine_is_one_line(home: Path) -> None:
    ran = trialbox(home, "run", "smoke", DOCKER_HOST="unix:///nowhere/docker.sock")
    one_line(ran, 3, "/nowhere/docker.sock")


def test_a_state_folder_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    for command in (("run", "smoke"), ("gc",), ("card", "list"), ("doctor",)):
        one_line(trialbox(tmp_path / "state", *command), 2, "can't be the state folder", "TRIALBOX_HOME")


@pytest.fixture
def read_only(home: Path) -> Iterator[Path]:
    with disk(home, read_only=True):
        yield home


def test_a_read_only_state_folder_is_one_line(read_only: Path) -> None:
    one_line(trialbox(read_only, "run", "smoke"), 3, "TRIALBOX_HOME")


@pytest.fixture
def full(home: Path) -> Iterator[Path]:
    with disk(home):
        (home / "ballast").write_bytes(os.urandom((1 << 20) - 4096))
        yield home


def test_a_full_disk_is_one_line(full: Path) -> None:
    one_line(trialbox(full, "run", "smoke"), 3, "the disk is full")


def test_a_damaged_ledger_is_one_line_for_each_command(home: Path) -> None:
    with Ledger(home / "ledger.db") as ledger:
        ledger.create_run(plan(8, 8, 2), {})
    data = bytearray((home / "ledger.db").read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 64] = b"\xff" * 64
    (home / "ledger.db").write_bytes(bytes(data))
    for command in (("run", "smoke"), ("run", "--resume", "latest"), ("report", "latest"), ("gc",)):
        one_line(trialbox(home, *command), 3, "the ledger is damaged")


def test_a_second_command_on_one_state_folder_is_one_line(home: Path) -> None:
    program = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from pathlib import Path; from harness.state import State\n"
        f"with State(Path({str(home)!r})).locked(): print('held', flush=True); time.sleep(600)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for command in (("run", "smoke"), ("gc",)):
            one_line(trialbox(home, *command), 2, f"process {holder.pid}", "wait for it to end")
    finally:
        holder.kill()
        holder.wait()
        if holder.stdout is not None:
            holder.stdout.close()


def test_what_needs_no_engine_says_what_there_is(home: Path) -> None:
    suites = trialbox(home, "suite", "list", "--json").json["suites"]
    assert [one["name"] for one in suites if one["name"] == "smoke"] == ["smoke"]
    shown = trialbox(home, "suite", "show", "smoke", "--json").json
    assert [len(shown["tasks"])] == [one["tasks"] for one in suites if one["name"] == "smoke"]
    listed = trialbox(home, "run", "smoke", "--list", "--limit", "1", "--attempts", "2", "--json").json
    assert (len(listed["tasks"]), listed["attempts"]) == (1, 6)
    assert trialbox(home, "run", "smoke", "--list").code == 0
    assert trialbox(home, "card", "list", "--json").json == {"cards": [], "published": 0, "index_problem": None}
    assert not home.exists()


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from trialbox.cli import main\n"
        "assert main(['--help']) == 0\n"
        "print(*sorted(m for m in ('pydantic', 'docker', 'rich', 'structlog', 'sqlite3') if m in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_log_lines_are_json_when_asked(home: Path) -> None:
    program = "from trialbox.display import _Plain; p = _Plain(); p.note('a\\x1b[2J'); p.planned(3, 1)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TRIALBOX_LOG": "json"},
    )
    assert done.stdout == ""
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert "\x1b" not in lines[0]["event"]
    assert (lines[1]["event"], lines[1]["attempts"], lines[1]["done"]) == ("run begins", 3, 1)


def test_what_can_be_checked_is_checked_before_a_run_is_planned(tmp_path: Path) -> None:
    """A mistaken command must not become the latest run, nor cost one."""
    home = tmp_path / "state"
    for wrong, named in (
        (("--solver", "wrong:candidate=no-such"), "no wrong candidate 'no-such'"),
        (("--out", str(tmp_path)), "is a folder"),
        (("--out", str(tmp_path / "nowhere" / "card.json")), "no folder that can be written"),
    ):
        ran = trialbox(home, "run", "smoke", *wrong)
        assert ran.code == 2, ran.err
        assert named in ran.line
        assert not home.exists(), "nothing was planned"


def test_a_card_is_written_over_no_device_and_nothing_of_the_state_folder(home: Path, tmp_path: Path) -> None:
    device, ledger = tmp_path / "device", home / "ledger.db"
    os.mkfifo(device)
    Ledger(ledger).close()
    (tmp_path / "link").symlink_to(ledger)
    before = ledger.read_bytes()
    for out, named in ((device, "no regular file"), (ledger, "state folder"), (tmp_path / "link", "state folder")):
        one_line(trialbox(home, "run", "smoke", "--out", str(out)), 2, named)
    assert ledger.read_bytes() == before
    assert device.is_fifo()


def test_a_link_to_a_file_is_followed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "card.json")
    write_out(str(tmp_path / "link.json"), b"{}", State(home))
    assert (tmp_path / "card.json").read_bytes() == b"{}"
    assert (tmp_path / "link.json").is_symlink()


def test_an_emptied_ledger_beside_cards_is_damage_and_no_new_one(home: Path) -> None:
    (home / "cards").mkdir(parents=True)
    (home / "cards" / ("0" * 64 + ".json")).write_text("{}")
    (home / "ledger.db").touch()
    for command in (("run", "--resume", "latest"), ("gc",)):
        one_line(trialbox(home, *command), 3, "the ledger is damaged")


@pytest.mark.parametrize(("redirected", "code"), [("> /dev/full", 3), (">&-", 0), ("| head -c 1", 0)])
@pytest.mark.parametrize("command", ["--help", "suite list", "suite list --json"])
def test_output_that_goes_nowhere_is_no_traceback(home: Path, command: str, redirected: str, code: int) -> None:
    script = f"set -o pipefail; {sys.executable} -m trialbox.cli {command} {redirected}"
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "TRIALBOX_HOME": str(home)}
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, check=False, env=environ)
    assert "Traceback" not in ran.stderr
    assert ran.returncode == code, ran.stderr
    assert ("standard output: can't be written" in ran.stderr) == (code == 3)
