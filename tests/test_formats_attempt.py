"""Whole attempts on tasks that take replies: each rung, each gate, each scripted solver, in real containers."""

from __future__ import annotations

import dataclasses
import shlex

import pytest

from harness.evidence import AttemptRecord, ChangeManifest
from harness.extract import Rung
from harness.outcomes import Outcome, Rejection
from harness.records import from_json
from harness.solvers.manifest import DriverKind, Manifest, ReplyFrom
from harness.suites.load import load_task
from harness.suites.tree import Tree
from tests.attempt_rig import make_rig
from tests.formats_rig import (
    GOOD_DIFF,
    RUNS,
    RUNS_OVER_ALL,
    TOLL,
    fenced,
    write_function_task,
    write_patch_task,
)
from tests.suites_rig import edit

pytestmark = pytest.mark.engine


@pytest.fixture
def rig(engine, images, tmp_path, owner):
    return make_rig(engine, images, tmp_path / "state", owner)


@pytest.fixture
def function(tmp_path):
    return load_task(write_function_task(tmp_path / "runs"))


@pytest.fixture
def patch(tmp_path):
    return load_task(write_patch_task(tmp_path / "toll"))


def _say(*replies):
    return "".join(f"printf %s {shlex.quote(reply)}\n" for reply in replies)


def _scripted(rig, kind, task, **manifest):
    return rig.run(Manifest(name=kind.value, driver=kind, **manifest), task=task)


def _paths(rig, record: AttemptRecord) -> list[str]:
    manifest = from_json(ChangeManifest, rig.store.get(record.capture.manifest.digest))
    return [change.path for change in manifest.changes]


def test_a_function_from_nothing_up_its_ladder(rig, function):
    assert function.before == Tree()
    record = _scripted(rig, DriverKind.REFERENCE, function)
    assert (record.outcome, record.capture.rung, record.kind) == (Outcome.SOLVED, Rung.REPLY, "")
    assert _paths(rig, record) == ["runs.py"]
    assert rig.text(record.solve.stdout) == function.reference.reply
    noop = _scripted(rig, DriverKind.NOOP, function)
    assert (noop.outcome, noop.capture.rung, noop.capture.manifest) == (Outcome.EXTRACT_FAILED, None, None)
    assert "runs.py was not written" in noop.reason
    assert noop.baseline.verdicts and not any(one.passed for one in noop.baseline.verdicts)
    wrong = _scripted(rig, DriverKind.WRONG, function)
    assert (wrong.outcome, wrong.grade.verdicts[0].passed) == (Outcome.FAILED, False)
    partial = _scripted(rig, DriverKind.PARTIAL, function)
    assert (partial.outcome, [one.passed for one in partial.grade.verdicts]) == (Outcome.PARTIAL, [True, False])


def test_a_function_that_was_written_to_the_workspace(rig, function):
    script = f"cat > runs.py <<'END'\n{RUNS}\nEND\nmkdir more; echo x > more/notes.txt; echo done"
    record = rig.attempt(script, task=function)
    assert (record.outcome, record.capture.rung) == (Outcome.SOLVED, Rung.WORKSPACE)
    assert _paths(rig, record) == ["runs.py"]  # the format asks for one file: what lies beside it is no part of it


def test_the_reply_comes_before_the_workspace(rig, function):
    script = f"cat > runs.py <<'END'\n{RUNS}\nEND\n{_say(fenced(RUNS_OVER_ALL))}"
    record = rig.attempt(script, task=function)
    assert (record.outcome, record.capture.rung) == (Outcome.FAILED, Rung.REPLY)
    record = rig.attempt(script, task=function, reply=ReplyFrom.NONE)
    assert (record.outcome, record.capture.rung) == (Outcome.SOLVED, Rung.WORKSPACE)


def test_of_two_blocks_the_last_counts(rig, function):
    record = rig.attempt(_say(fenced(RUNS_OVER_ALL), fenced(RUNS, "PY"), fenced("$ runs aab\n", "text")), task=function)
    assert (record.outcome, record.capture.rung) == (Outcome.SOLVED, Rung.REPLY)


def test_what_a_solver_says_on_standard_error_is_no_reply(rig, function):
    record = rig.attempt(f"{{ {_say(fenced(RUNS))} }} >&2", task=function)
    assert record.outcome is Outcome.EXTRACT_FAILED


def test_a_solver_out_of_time_has_timed_out_whatever_it_left(rig, function):
    spec = function.spec.model_copy(update={"limits": function.limits.model_copy(update={"wall_s": 2})})
    task = dataclasses.replace(function, spec=spec)
    record = rig.attempt("sleep 60", task=task)
    assert (record.outcome, record.kind, record.grade) == (Outcome.TIMEOUT, "wall", None)
    record = rig.attempt(_say(fenced(RUNS)) + "sleep 60", task=task)
    assert record.outcome is Outcome.TIMEOUT
    assert all(one.passed for one in record.grade.verdicts)


def test_a_link_in_place_of_the_target_is_refused(rig, function):
    record = rig.attempt("ln -s /etc/passwd runs.py", task=function)
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.SYMLINK_ESCAPE.value)


def test_a_patch_up_its_ladder(rig, patch):
    record = _scripted(rig, DriverKind.REFERENCE, patch)
    assert (record.outcome, record.capture.rung) == (Outcome.SOLVED, Rung.REPLY)
    assert _paths(rig, record) == ["bridge/toll.py"]
    noop = _scripted(rig, DriverKind.NOOP, patch)
    assert (noop.outcome, noop.capture.rung) == (Outcome.EXTRACT_FAILED, None)
    breaker = _scripted(rig, DriverKind.BREAKER, patch)
    assert (breaker.outcome, [one.passed for one in breaker.grade.verdicts]) == (Outcome.FAILED, [True, False])


def test_a_patch_that_was_made_in_the_workspace(rig, patch):
    record = rig.attempt("sed -i 's/return 2/return 2 + loads/' bridge/toll.py; echo x > notes.txt", task=patch)
    assert (record.outcome, record.capture.rung) == (Outcome.SOLVED, Rung.WORKSPACE)
    assert _paths(rig, record) == ["bridge/toll.py", "notes.txt"]


def test_a_diff_is_applied_to_the_tree_that_was_given_out_not_to_what_became_of_it(rig, patch):
    script = "sed -i 's/return 2/return 2 + loads/' bridge/toll.py\n" + _say(fenced(GOOD_DIFF, "diff"))
    assert rig.attempt(script, task=patch).outcome is Outcome.SOLVED


def test_a_diff_that_does_not_apply_has_failed_at_that_gate(rig, patch):
    stale = GOOD_DIFF.replace("if kind", "if type")
    script = "sed -i 's/return 2/return 2 + loads/' bridge/toll.py\n" + _say(fenced(stale, "diff"))
    record = rig.attempt(script, task=patch)
    assert (record.outcome, record.kind, record.grade) == (Outcome.FAILED, "apply", None)
    assert (record.capture.rung, record.capture.manifest) == (Rung.REPLY, None)
    assert "bridge/toll.py" in record.reason


def test_a_change_over_the_budget_has_failed_at_that_gate(rig, patch):
    record = rig.attempt("printf '# %s\\n' 1 2 3 4 5 6 7 >> bridge/toll.py", task=patch)
    assert (record.outcome, record.kind, record.grade) == (Outcome.FAILED, "budget", None)
    assert record.reason == "more than 6 lines are changed"
    assert _paths(rig, record) == ["bridge/toll.py"]


def test_a_diff_that_makes_an_escaping_link_is_rejected(rig, patch):
    link = (
        "diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n+../../etc/passwd\n"
        "\\ No newline at end of file\n"
    )
    record = rig.attempt(_say(fenced(link, "diff")), task=patch)
    assert (record.outcome, record.kind) == (Outcome.REJECTED, Rejection.SYMLINK_ESCAPE.value)


def test_the_type_gate(rig, tmp_path):
    folder = write_function_task(tmp_path / "typed")
    edit(folder / "task.toml", 'export = "runs"\n', 'export = "runs"\ntypecheck = true\n')
    task = load_task(folder)
    assert task.images == ("python", "typing")
    assert _scripted(rig, DriverKind.REFERENCE, task).outcome is Outcome.SOLVED
    record = rig.attempt(_say(fenced(RUNS.replace("text: str", "text"))), task=task)
    assert (record.outcome, record.kind, record.grade) == (Outcome.FAILED, "typecheck", None)
    assert record.reason.startswith("runs.py:2: error: ")
    assert record.capture.manifest is not None


def test_a_patch_with_crlf_sources_keeps_them(rig, patch):
    crlf = Tree(dataclasses.replace(one, data=one.data.replace(b"\n", b"\r\n")) for one in patch.before.values())
    head, hunk = GOOD_DIFF.split("@@ -4", 1)
    lines = [line or " " for line in hunk.splitlines()]
    diff = head + "@@ -4" + "\r\n".join([*lines, ""]).replace("@@\r\n", "@@\n")
    assert diff.count("\r\n") == GOOD_DIFF.count("\n") - 3
    record = rig.attempt(_say(fenced(diff, "diff")), task=dataclasses.replace(patch, before=crlf))
    assert (record.outcome, record.reason) == (Outcome.SOLVED, "")
    manifest = from_json(ChangeManifest, rig.store.get(record.capture.manifest.digest))
    assert rig.store.get(manifest.changes[0].content.digest).count(b"\r\n") == len(TOLL.splitlines())
