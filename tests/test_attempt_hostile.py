"""Hostile solvers in real containers: each ends in the outcome that the table names, in time, leaving nothing behind.

``owner`` checks after each test that no container or volume is left; ``no_trace`` that nothing appeared on the host.
"""

from __future__ import annotations

import time

import pytest

from harness.outcomes import Ending, Outcome, Rejection
from tests.attempt_rig import GOOD, LIMITS, make_rig, small_task

pytestmark = pytest.mark.engine

_SOLVE = f"printf '%s' '{GOOD}' > pkg/words.py"


@pytest.fixture
def rig(engine, images, tmp_path, owner):
    return make_rig(engine, images, tmp_path, owner)


def _short(wall_s=4, **more):
    return small_task(LIMITS.model_copy(update={"wall_s": wall_s, **more}))


def _timed(rig, script, task):
    """Run an attempt whose baseline and seed are known, and give the seconds from the solver's limit to the end."""
    rig.attempt("true", task=task)
    began = time.monotonic()
    record = rig.attempt(script, task=task)
    return record, time.monotonic() - began - task.limits.wall_s


def test_the_honest_control_is_solved(rig):
    record = rig.attempt(_SOLVE)
    assert (record.outcome, record.reason) == (Outcome.SOLVED, "")


def test_fork_bomb(rig):
    task = _short()
    record, late = _timed(rig, f"{_SOLVE}; bomb() {{ bomb | bomb & }}; bomb; while :; do :; done", task)
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "wall")
    assert record.grade and all(one.passed for one in record.grade.verdicts), "what it left is graded all the same"
    assert late < 10
    assert record.solve.use.pids_refused


def test_fork_bomb_at_the_largest_limit_that_a_task_may_have(rig):
    task = _short(pids=512)
    record, late = _timed(
        rig,
        """
        python3 - <<'E'
        import os
        while True:
            try:
                if os.fork() == 0:
                    while True:
                        try:
                            os.fork()
                        except OSError:
                            pass
            except OSError:
                pass
        E
        """,
        task,
    )
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "wall")
    assert late < 10


def test_a_task_cannot_ask_for_a_4096_pid_bomb():
    with pytest.raises(ValueError, match="pids"):
        LIMITS.__class__(pids=4096)


def test_a_bomb_that_wants_4096_pids_is_held_at_the_limit(rig):
    task = _short(wall_s=15, pids=512)
    record, late = _timed(
        rig,
        """
        python3 - <<'E'
        import os, time
        made = 0
        for n in range(4096):
            try:
                if os.fork() == 0:
                    time.sleep(600)
                made += 1
            except OSError:
                continue
        print(made, flush=True)
        time.sleep(600)
        E
        """,
        task,
    )
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "wall")
    assert 400 < int(rig.text(record.solve.stdout)) < 512
    assert late < 10


def test_memory_hog(rig):
    record = rig.attempt("exec python3 -c 'x = []\nwhile True: x.append(bytearray(10**7))'")
    assert (record.outcome, record.kind, record.solve.ending) == (Outcome.FAILED, "oom", Ending.OUT_OF_MEMORY)
    assert record.solve.use.oom_kills


def test_memory_hog_in_a_child_does_not_undo_the_work(rig):
    record = rig.attempt(f"{_SOLVE}; python3 -c 'x = bytearray(10**9)'; exit 0")
    assert record.outcome is Outcome.SOLVED
    assert record.solve.use.oom_kills


def test_disk_filler(rig):
    record = rig.attempt("head -c 1000000000 /dev/zero > big; head -c 1000000000 /dev/zero > ~/big; echo status $?")
    assert record.outcome is Outcome.FAILED
    assert record.solve.ending is Ending.COMPLETED
    assert record.capture.bytes <= LIMITS.workspace_mb << 20


def test_disk_filler_after_the_fix_still_counts_the_fix(rig):
    record = rig.attempt(f"{_SOLVE}; head -c 1000000000 /dev/zero > ~/big; true")
    assert record.outcome is Outcome.SOLVED


def test_a_gigabyte_of_output(rig):
    record = rig.attempt(f"{_SOLVE}; head -c 1000000000 /dev/zero; head -c 1000000 /dev/zero >&2")
    assert record.outcome is Outcome.SOLVED
    assert record.solve.stdout.size == record.solve.stderr.size == LIMITS.output_kb << 10
    assert record.solve.output_dropped > 999_000_000


def test_a_million_files(rig):
    task = _short(wall_s=20)
    record = rig.attempt(
        """
        python3 - <<'E'
        for n in range(1_000_000):
            try:
                open(f"f{n}", "w").close()
            except OSError as error:
                print(n, error.strerror)
                break
        E
        """,
        task=task,
    )
    assert "No space left" in rig.text(record.solve.stdout)
    assert record.outcome is Outcome.FAILED
    assert record.capture.entries < LIMITS.workspace_inodes


def test_a_tree_ten_thousand_deep(rig):
    task = small_task(LIMITS.model_copy(update={"workspace_inodes": 12_000}))
    record = rig.attempt(
        """
        python3 - <<'E'
        import os
        for _ in range(10_000):
            os.mkdir("d")
            os.chdir("d")
        E
        """,
        task=task,
    )
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.TREE_TOO_DEEP.value)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("touch \"$(printf 'new\\nline')\"", Rejection.BAD_PATH),
        ("touch \"$(printf 'bad\\377name')\"", Rejection.BAD_PATH),
        ("touch \"$(printf 'esc\\033[2J')\"", Rejection.BAD_PATH),
        ("ln -s /etc/passwd out", Rejection.SYMLINK_ESCAPE),
        ("ln -s ../../etc out", Rejection.SYMLINK_ESCAPE),
        ("rm pkg/words.py; ln -s /proc/self/environ pkg/words.py", Rejection.SYMLINK_ESCAPE),
        ("mkfifo pipe", Rejection.SPECIAL_FILE),
        ("python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'", Rejection.SPECIAL_FILE),
        ("cp /bin/true su && chmod 4755 su", Rejection.BAD_MODE),
        ("git init -q sub", Rejection.NESTED_REPOSITORY),
    ],
)
def test_trees_that_are_refused_by_name(rig, script, reason):
    record = rig.attempt(f"{_SOLVE}; {script}")
    assert (record.outcome, record.kind) == (Outcome.REJECTED, reason.value)
    assert record.capture.rejection is reason
    assert record.grade is None


def test_device_nodes_cannot_be_made(rig):
    record = rig.attempt(f"{_SOLVE}; mknod disk b 8 0; mknod null c 1 3; ls")
    assert record.outcome is Outcome.SOLVED
    assert "not permitted" in rig.text(record.solve.stderr)


def test_hard_links_count_as_copies(rig):
    record = rig.attempt(f"{_SOLVE}; ln README.md twin; for n in 1 2 3; do ln pkg/words.py link$n; done")
    assert record.outcome is Outcome.SOLVED


def test_hard_links_cannot_multiply_past_the_limit(rig):
    record = rig.attempt("head -c 20000000 /dev/zero > big; for n in 1 2 3 4 5; do ln big b$n; done")
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.TREE_TOO_LARGE.value)


def test_unreadable_files_are_read_all_the_same(rig):
    record = rig.attempt(f"{_SOLVE}; mkdir shut && echo x > shut/in && chmod 0 pkg/words.py shut/in shut")
    assert record.outcome is Outcome.SOLVED
    assert "shut/in" in rig.text(record.capture.patch)


def test_ignored_signals(rig):
    record, late = _timed(rig, "trap '' TERM INT HUP QUIT USR1; while :; do sleep 1; done", _short())
    assert (record.outcome, record.kind) == (Outcome.TIMEOUT, "wall")
    assert late < 10


def test_a_background_process_outlives_the_solver_but_not_the_attempt(rig):
    record = rig.attempt(
        f"{_SOLVE}; (setsid sh -c 'while :; do echo broken > pkg/words.py; sleep 0.05; done' >/dev/null 2>&1 &); "
        "sleep 0.5; exit 0"
    )
    # It is dead before the tree is read, so what is read is one state of the tree, whichever it was.
    assert record.outcome is Outcome.FAILED
    assert rig.text(record.capture.patch).count("+broken") == 1


def test_killing_the_first_process_does_not_lose_the_work(rig):
    record = rig.attempt(f"{_SOLVE}; kill -9 1; kill 1; kill -9 -1; sleep 1")
    assert record.outcome is Outcome.SOLVED


def test_everything_deleted_is_a_change_not_a_fault(rig):
    record = rig.attempt("rm -rf ./* .git")
    assert record.outcome is Outcome.FAILED
    assert rig.text(record.capture.patch).count("deleted file mode") == len(small_task().before)


@pytest.mark.parametrize(
    "hide",
    [
        "git update-index --assume-unchanged pkg/words.py",
        "git update-index --skip-worktree pkg/words.py",
        "git commit -qam 'mine'",
        "git commit -qam 'mine'; git replace HEAD~1 HEAD",
        "mkdir -p .git/info; echo '*' > .git/info/exclude",
        "git checkout -q --orphan other",
        "rm -rf .git",
    ],
)
def test_git_tricks_hide_nothing(rig, hide):
    record = rig.attempt(f"{_SOLVE}; {hide}")
    assert record.outcome is Outcome.SOLVED
    assert "+++ b/pkg/words.py" in rig.text(record.capture.patch)


def test_a_hang_in_the_grader(rig):
    task = small_task(LIMITS.model_copy(update={"grade_wall_s": 4}))
    rig.attempt("true", task=task)
    began = time.monotonic()
    record = rig.attempt("printf 'import time\\ntime.sleep(10000)\\n' > pkg/words.py", task=task)
    assert record.outcome is Outcome.FAILED
    assert time.monotonic() - began < 4 + 10


def test_a_fork_bomb_in_the_grader(rig):
    task = small_task(LIMITS.model_copy(update={"grade_wall_s": 4}))
    rig.attempt("true", task=task)
    began = time.monotonic()
    record = rig.attempt(
        "printf 'import os\\nwhile True:\\n    try:\\n        os.fork()\\n    except OSError:\\n        pass\\n' "
        "> pkg/words.py",
        task=task,
    )
    assert record.outcome is Outcome.FAILED
    assert time.monotonic() - began < 4 + 10


def test_a_flood_and_a_memory_hog_in_the_grader(rig):
    flood = rig.attempt("printf 'import os\\nwhile True:\\n    os.write(1, b\"x\" * 65536)\\n' > pkg/words.py")
    hog = rig.attempt("printf 'x = bytearray(10**9)\\n' > pkg/words.py")
    assert flood.outcome is hog.outcome is Outcome.FAILED


def test_the_keeper_is_out_of_reach(rig):
    record = rig.attempt("ps aux 2>/dev/null; ls /proc | grep -E '^[0-9]+$' | wc -l; cat /proc/1/cmdline")
    assert "sleep" in rig.text(record.solve.stdout)
    assert "tar" not in rig.text(record.solve.stdout)
