"""What the engine really does, each once measured and each a trap: here the product steps into it and gets out."""

from __future__ import annotations

import dataclasses
import threading
import time

import pytest

from harness.engine.owned import ROLE_LABEL, STATE_LABEL, Volumes, opaque_name, reap
from harness.engine.sandbox import Sandbox
from harness.engine.spec import AGENT_USER, Role, SandboxSpec, VolumeMount
from harness.errors import InfraError
from harness.outcomes import Outcome, Rejection
from harness.suites.tree import REGULAR, Entry, Tree
from harness.workspace import WORKSPACE, Workspace, pack
from tests.attempt_rig import BAD, GOOD, LIMITS, make_rig, small_task
from tests.oracle_rig import make_task, tree

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

_SOLVE = f"printf '%s' '{GOOD}' > pkg/words.py"
_OOM_THE_FIRST_PROCESS = """
echo 1000 > /proc/1/oom_score_adj
head -c 6000000 /dev/zero > /tmp/x; head -c 40000000 /dev/zero > {volume}/x
exec python3 -c 'x = []
while True: x.append(bytearray(10**6))'
"""


@pytest.fixture
def rig(engine, images, tmp_path, owner):
    return make_rig(engine, images, tmp_path, owner)


@pytest.fixture
def workspace(engine, images, owner):
    with Workspace(engine, images["base"].handle, LIMITS, owner) as made:
        yield made


def _seed(files, prefix="workspace/"):
    return pack(Tree(Entry(name, REGULAR, data) for name, data in files.items()), prefix=prefix)


def _inside(sandbox, script, **more):
    return sandbox.run(("sh", "-c", script), timeout_s=60, max_output=1 << 16, **more)


# ------------------------------------------------------------------------------------------ stopped and dead containers


def test_a_volume_is_emptied_when_its_last_container_stops(engine, images, owner):
    mounts = (VolumeMount(volume=opaque_name(), target=WORKSPACE, size_mb=4, inodes=100),)
    spec = SandboxSpec(role=Role.PROBE, image=images["base"].handle, volumes=mounts, memory_mb=128)
    volumes = Volumes(engine, owner, mounts)
    try:
        with Sandbox(engine, spec, owner) as first:
            _inside(first, "echo kept > a")
            with Sandbox(engine, spec, owner) as second:
                first.destroy()
                assert _inside(second, "cat a").stdout == b"kept\n"
        with Sandbox(engine, spec, owner) as third:
            assert _inside(third, "ls -A").stdout == b""
    finally:
        volumes.remove()


@pytest.mark.parametrize("end", ["kill", "stop", "pause", "remove"])
def test_a_keeper_that_is_gone_is_never_an_empty_tree(engine, workspace, end):
    workspace.seed(_seed({"a": b"x"}))
    match end:
        case "kill":
            engine.api.kill(workspace.keeper.id)
        case "stop":
            engine.api.stop(workspace.keeper.id, timeout=0)
        case "pause":
            engine.api.pause(workspace.keeper.id)  # an exec is refused while paused
        case "remove":
            engine.api.remove_container(workspace.keeper.id, force=True)
    with pytest.raises(InfraError):
        workspace.read()


def test_a_keeper_that_was_started_again_is_never_an_empty_tree(engine, workspace):
    workspace.seed(_seed({"a": b"x"}))
    engine.api.restart(workspace.keeper.id, timeout=0)
    with pytest.raises(InfraError):
        workspace.read()


def test_a_keeper_that_dies_in_mid_run_is_infra(rig, engine, owner):
    rig.attempt("true")

    def kill():
        def running(role):
            return engine.api.containers(filters={"label": [f"{STATE_LABEL}={owner}", f"{ROLE_LABEL}={role}"]})

        until = time.monotonic() + 60
        while not running("solver") and time.monotonic() < until:  # a busy machine takes its time
            time.sleep(0.05)
        time.sleep(0.5)
        for one in running("keeper"):
            engine.api.kill(one["Id"])

    killer = threading.Thread(target=kill)

    killer.start()
    record = rig.attempt(f"{_SOLVE}; sleep 4")
    killer.join()
    assert record.outcome is Outcome.INFRA
    assert record.capture is None


def test_a_solver_that_has_its_first_process_killed_is_graded_all_the_same(rig):
    record = rig.attempt(f"{_SOLVE}; {_OOM_THE_FIRST_PROCESS.format(volume='/workspace')}")
    assert record.outcome is Outcome.SOLVED


def test_a_candidate_that_ends_its_grader_has_failed(rig):
    task = make_task(
        tree({"pkg/__init__.py": "", "pkg/words.py": "def greet(name):\n    return name\n"}),
        [
            {"name": "titles", "kind": "behaviour", "oracle": "cases", "file": "hidden/titles.json"},
            {
                "name": "more",
                "kind": "behaviour",
                "oracle": "pytest",
                "files": ["hidden/test_more.py"],
                "ids": ["test_more.py::test_it"],
            },
            {"name": "plain", "kind": "regression", "oracle": "cases", "file": "hidden/plain.json"},
        ],
        {
            "titles.json": {"target": "pkg.words:greet", "cases": [{"args": ["ann"], "expect": "Ann"}]},
            "plain.json": {"target": "pkg.words:greet", "cases": [{"args": ["Bo"], "expect": "Bo"}]},
            "test_more.py": "from pkg.words import greet\n\n\ndef test_it():\n    assert greet('ann') == 'Ann'\n",
        },
    )
    limits = LIMITS.model_copy(update={"grade_wall_s": 15})
    task = task.__class__(**{**task.__dict__, "spec": task.spec.model_copy(update={"limits": limits}), "prompt": "x"})
    rig.attempt("true", task=task)
    attack = (
        "import os\n"
        "open('/proc/self/oom_score_adj', 'w').write('0')\n"
        "open('/proc/1/oom_score_adj', 'w').write('1000')\n"
        "open('/tmp/x', 'wb').write(bytes(6000000))\n"
        "for n in range(6):\n    open(f'/workspace/x{n}', 'wb').write(bytes(6000000))\n"
        "if os.fork() == 0:\n    x = []\n    while True:\n        x.append(bytearray(10**6))\n"
        "import time\ntime.sleep(100)\n"
    )
    record = rig.attempt(("python3", "-c", f"open('pkg/words.py', 'w').write({attack!r})"), task=task)
    assert record.outcome in {Outcome.FAILED, Outcome.REJECTED}


# ---------------------------------------------------------------------------------------------------- what must fit


def test_a_seed_larger_than_the_volume_is_said_so(workspace):
    with pytest.raises(InfraError, match="of 2 entries arrived"):
        workspace.seed(_seed({"a": b"x", "b": bytes((LIMITS.workspace_mb + 1) << 20)}))


def test_a_seed_of_too_many_files_is_said_so(workspace):
    with pytest.raises(InfraError, match="entries arrived"):
        workspace.seed(_seed({f"f{n}": b"" for n in range(LIMITS.workspace_inodes + 1)}))


def test_a_put_larger_than_the_volume_fails(workspace):
    with pytest.raises(InfraError, match="unpacking"):
        workspace.keeper.put(WORKSPACE, _seed({"b": bytes((LIMITS.workspace_mb + 1) << 20)}, prefix=""))


def test_a_keeper_can_hold_full_volumes(workspace):
    fill = (
        "for d in /workspace /home/agent; do (cd $d; head -c 1000000000 /dev/zero > big; "
        "i=0; while : > f$i; do i=$((i+1)); done); done 2>/dev/null; true"
    )
    workspace.seed(_seed({"a": b"x"}))
    _inside(workspace.keeper, fill, user=AGENT_USER)
    assert workspace.keeper.usage().oom_kills == 0
    got = workspace.read()
    assert got.entries > LIMITS.workspace_inodes - 5
    assert got.bytes > (LIMITS.workspace_mb - 1) << 20


@pytest.mark.parametrize(
    "script",
    [
        # Without the git store and the tests there is room for more than the grader could hold with them restored.
        "rm -rf .git tests; head -c 1000000000 /dev/zero > big",
        "rm -rf .git tests; i=0; while : > f$i; do i=$((i+1)); done",
        # A hard link takes no page here; a copy takes one each.
        'rm -rf .git; echo x > a; python3 -c \'import os\nfor n in range(3000): os.link("a", f"b{n}")\'',
        "rm -rf .git; for n in $(seq 40); do truncate -s 200K s$n; done",
    ],
)
def test_a_tree_that_fills_the_workspace_is_no_fault_of_the_hosts(rig, script):
    base = small_task(LIMITS.model_copy(update={"workspace_mb": 8}))
    before = base.before.overlay(tree({"tests/test_a.py": "x = 1\n" * 50_000, "tests/test_b.py": ""}))
    spec = base.spec.model_copy(update={"visible_tests": ("tests/test_a.py", "tests/test_b.py")})
    task = base.__class__(**{**base.__dict__, "before": before, "spec": spec})
    record = rig.attempt(f"({script}) 2>/dev/null; {_SOLVE}; true", task=task)
    assert record.outcome in {Outcome.FAILED, Outcome.SOLVED, Outcome.REJECTED}
    assert record.kind in {"", Rejection.TREE_TOO_LARGE.value, Rejection.TOO_MANY_FILES.value}


# ------------------------------------------------------------------------------------------------- names and streams


def test_the_deepest_tree_that_is_accepted_comes_whole(workspace):
    deep = "/".join("d" * 256)
    workspace.seed(_seed({deep: b"found"}))
    assert workspace.read().tree[deep].data == b"found"


def test_names_that_look_like_options_are_names(rig):
    names = ["-rf", "--checkpoint=1", "--checkpoint-action=exec=touch pwned", "$(id)", "*", "--", "-print", " a 'b\" c"]
    script = f"import pathlib\nfor n in {names!r}: pathlib.Path('/workspace', n).write_text('x')"
    record = rig.attempt(f"{_SOLVE}; python3 - <<'E'\n{script}\nE")
    assert record.outcome is Outcome.SOLVED
    patch = rig.text(record.capture.patch)
    assert all(f"+++ b/{name}\n" in patch for name in names)
    assert "pwned\n" not in patch.replace("touch pwned\n", "")


@pytest.mark.parametrize(
    "script",
    [
        "chmod 0 .",
        "rm -rf .git; echo 'gitdir: /etc' > .git",
        "rm -rf .git; ln -s / .git",
        "mv pkg real; ln -s real pkg",
        "mkdir t; chmod 3777 t; touch t/x",
        'python3 -c \'import os; os.utime("pkg/words.py", (2**40, -2**33)); os.utime("pkg", (2**62, 2**62))\'',
    ],
)
def test_odd_trees_that_are_no_fault_of_the_work(rig, script):
    assert rig.attempt(f"{_SOLVE}; {script}").outcome is Outcome.SOLVED


def test_names_of_fifty_thousand_bytes_are_refused_by_name(rig):
    record = rig.attempt(
        f'{_SOLVE}; python3 -c \'import os\nfor n in range(200):\n  os.mkdir("d" * 255); os.chdir("d" * 255)\''
    )
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.BAD_PATH.value)


def test_a_stream_that_nobody_reads_any_more_does_not_delay_the_end(engine, images, owner):
    spec = SandboxSpec(role=Role.PROBE, image=images["base"].handle, workdir="/tmp", memory_mb=128)
    with Sandbox(engine, spec, owner) as sandbox:
        result = sandbox.run(("sh", "-c", "while :; do head -c 1000000 /dev/zero; done"), timeout_s=1, max_output=10)
        assert result.timed_out
        began = time.monotonic()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("argv", [("no-such-program",), ("",), ("/etc/passwd",), ("sh", "-c", "kill -SEGV $$")])
def test_a_solver_that_cannot_start_or_crashes_is_graded_as_it_is(rig, argv):
    record = rig.attempt(argv)
    assert record.outcome is Outcome.FAILED
    assert record.solve.exit_status in {126, 127, 139}


def test_a_solver_that_closes_its_streams_is_waited_for(rig):
    assert rig.attempt(f"exec >&- 2>&- <&-; sleep 2; {_SOLVE}").outcome is Outcome.SOLVED


def test_a_child_that_floods_the_stream_does_not_keep_the_attempt_open(rig):
    record = rig.attempt(f"{_SOLVE}; (setsid sh -c 'while :; do echo x; done' &); exit 0")
    assert record.outcome is Outcome.SOLVED


# ------------------------------------------------------------------------------------------------------------ reaping


def test_two_may_reap_at_once_and_a_strangers_container_stays(engine, images, owner):
    spec = SandboxSpec(role=Role.PROBE, image=images["base"].handle, workdir="/tmp", memory_mb=128)
    with Sandbox(engine, spec, "stranger-" + owner) as stranger:
        for _ in range(4):
            Sandbox(engine, spec, owner)
        faults = []

        def one():
            try:
                reap(engine, owner)
            except InfraError as error:
                faults.append(str(error))

        both = [threading.Thread(target=one) for _ in range(3)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
        assert faults == []
        assert _inside(stranger, "echo here").stdout == b"here\n"


def test_a_baseline_that_was_cut_short_is_nobodys_and_is_not_remembered(rig, engine, owner):
    """Ended from outside (an interrupted run's clean-up), it says nothing of the task: the next try grades it anew."""
    query = {"label": [f"{STATE_LABEL}={owner}", f"{ROLE_LABEL}={Role.GRADER.value}"]}
    slow = make_task_slow()

    def end() -> None:
        while not (found := engine.api.containers(filters=query)):
            time.sleep(0.02)
        time.sleep(0.6)
        engine.api.kill(found[0]["Id"])

    killer = threading.Thread(target=end, daemon=True)
    killer.start()
    cut = rig.attempt("true", task=slow)
    killer.join(30)
    assert (cut.outcome, cut.kind) == (Outcome.INFRA, "host"), cut.reason
    assert rig.attempt("true", task=slow).outcome is Outcome.FAILED


def test_a_base_that_runs_out_of_time_says_nothing_of_the_task(rig):
    slow = make_task_slow(seconds=30)
    limits = slow.limits.model_copy(update={"grade_wall_s": 6})
    hurried = dataclasses.replace(slow, spec=slow.spec.model_copy(update={"limits": limits}))
    ended = rig.attempt("true", task=hurried)
    assert (ended.outcome, ended.kind) == (Outcome.INFRA, "host"), ended.reason
    assert "ran into its limit of 6 s" in ended.reason


def make_task_slow(seconds: int = 2):
    """The small task with a base that takes its time to be graded."""
    slow = tree({"pkg/words.py": f"import time\ntime.sleep({seconds})\n" + BAD})
    task = small_task()
    return dataclasses.replace(task, before=task.before.overlay(slow))
