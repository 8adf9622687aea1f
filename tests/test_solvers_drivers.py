"""The drivers, in real containers: what a program finds, and how a long-lived worker is driven."""

from __future__ import annotations

import pytest

from harness.outcomes import Ending, Outcome
from harness.solvers.manifest import DriverKind, Manifest
from harness.solvers.service import last_status
from tests.attempt_rig import GOOD, LIMITS, make_rig, small_task

pytestmark = pytest.mark.engine

WORKER = """
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["CONTROL_SOCKET"])
server.listen()
link, _ = server.accept()
for line in link.makefile("rb"):
    request = json.loads(line)
    def say(**event):
        link.sendall(json.dumps({"id": request["id"], **event}).encode() + b"\\n")
    BODY
"""


@pytest.fixture
def rig(engine, images, tmp_path, owner):
    return make_rig(engine, images, tmp_path, owner)


def _service(rig, tmp_path, body, task=None):
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "worker.py").write_text(WORKER.replace("BODY", body.replace("\n", "\n    ")))
    manifest = Manifest(name="worker", driver=DriverKind.SERVICE, argv=("python3", "/opt/solver/worker.py"))
    return rig.run(manifest, task=task, bundle=bundle)


def test_a_program_finds_the_prompt_the_project_and_one_commit(rig):
    record = rig.attempt(
        """
        cat; echo; cat "$PROMPT_FILE"; pwd; echo "$HOME"; git log --format='%an %s' --all; git status --short
        git rev-list --objects --all | wc -l; git reflog | wc -l; git for-each-ref | wc -l; git config -l --local
        """
    )
    lines = rig.text(record.solve.stdout).splitlines()
    prompt = small_task().prompt.strip()
    assert lines[:6] == [prompt, "", prompt, "/workspace", "/home/agent", "origin Initial state"]
    # one commit, two trees and three files (an empty one, the package's and the read-me)
    assert lines[6:9] == ["6", "0", "1"]
    assert all(line.startswith("core.") for line in lines[9:])


def test_the_prompt_file_can_be_an_argument(rig):
    record = rig.attempt(("cat", "{prompt_file}"))
    assert rig.text(record.solve.stdout) == small_task().prompt


@pytest.mark.parametrize(
    ("argv", "statuses"),
    [
        (("sh", "-c", "exit 3"), {3}),
        (("sh", "-c", "kill -TERM $$"), {143}),
        (("no-such-program",), {126, 127}),  # engines differ on which
        (("/etc/passwd",), {126}),
    ],
)
def test_how_a_program_ends_does_not_decide_the_outcome(rig, argv, statuses):
    record = rig.attempt(argv)
    assert (record.outcome, record.solve.ending) == (Outcome.FAILED, Ending.COMPLETED)
    assert record.solve.exit_status in statuses


def test_a_bundle_is_mounted_read_only(rig, tmp_path):
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "agent.sh").write_text("echo from the bundle; touch /opt/solver/x || echo read-only\n")
    manifest = Manifest(name="mine", driver=DriverKind.COMMAND, argv=("sh", "/opt/solver/agent.sh"))
    record = rig.run(manifest, bundle=bundle)
    assert rig.text(record.solve.stdout) == "from the bundle\nread-only\n"


def test_a_worker_solves(rig, tmp_path):
    body = f"""
say(event="progress", text=request["prompt"][:10])
with open(request["workspace"] + "/pkg/words.py", "w") as out:
    out.write({GOOD!r})
say(event="done", status="ok")
"""
    record = _service(rig, tmp_path, body)
    assert record.outcome is Outcome.SOLVED
    assert '"event": "progress"' in rig.text(record.solve.transcript)


def test_a_worker_may_refuse(rig, tmp_path):
    record = _service(rig, tmp_path, 'say(event="done", status="refused")')
    assert (record.outcome, record.grade) == (Outcome.REFUSED, None)


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit(1)",
        'link.sendall(b"nonsense\\\\n" * 100); sys.exit(0)',
        'link.sendall(b"{" * 3_000_000 + b"\\\\n"); sys.exit(0)',
        'say(event="done", status="solved!")',
        'request["id"] = 99; say(event="done", status="refused"); sys.exit(0)',
    ],
)
def test_a_worker_that_fails_is_graded_like_any_other(rig, tmp_path, body):
    record = _service(rig, tmp_path, body)
    assert (record.outcome, record.solve.ending) == (Outcome.FAILED, Ending.COMPLETED)


def test_a_worker_that_hangs_runs_into_the_limit(rig, tmp_path):
    task = small_task(LIMITS.model_copy(update={"wall_s": 4}))
    record = _service(rig, tmp_path, "import time; time.sleep(1000)", task)
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "wall")


def test_a_worker_that_never_listens_is_noticed_when_it_ends(rig):
    manifest = Manifest(name="worker", driver=DriverKind.SERVICE, argv=("sh", "-c", "sleep 1; exit 5"))
    record = rig.run(manifest)
    assert record.outcome is Outcome.FAILED
    assert "worker ended with status 5 before it listened" in rig.text(record.solve.stderr)


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        (b'{"id": 1, "event": "done", "status": "ok"}\n', "ok"),
        (b'{"id": 1, "event": "done", "status": "ok"}\n{"id": 1, "event": "progress"}\n', "ok"),
        (b'{"id": 2, "event": "done", "status": "refused"}\n', "failed"),
        (b'{"id": 1, "id": 1, "event": "done", "status": "refused"}\n', "failed"),
        (b"[" * 100_000 + b"\n", "failed"),
        (b"", "failed"),
        (b"\xff\xfe\n", "failed"),
    ],
)
def test_only_a_well_formed_last_word_counts(printed, status):
    assert last_status(printed) == status
