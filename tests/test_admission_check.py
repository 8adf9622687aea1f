"""Whole tasks through admission, in real containers: a good one, and bad ones that break each clause."""

from __future__ import annotations

import json

import pytest

from harness.suites.admission.mutants import mutants_of
from harness.suites.load import load_suite
from tests.admission_rig import (
    LEAST,
    PLAIN,
    REFERENCE,
    bench,
    examined,
    oracle,
    reply,
    write_little,
)
from tests.cli_rig import trialbox
from tests.suites_rig import edit, write

pytestmark = pytest.mark.engine


def check(engine, images, owner, folder):
    with bench(engine, images, folder.parent, owner) as made:
        return examined(load_suite(folder), made)


def clauses(admission) -> set[str]:
    return {reason.partition(":")[0] for reason in admission.reasons}


def test_a_reference_that_fails_and_a_base_that_passes_are_refused_at_once(engine, images, tmp_path, owner):
    folder = write_little(tmp_path / "little")
    write(folder, {"spans/before/spans.py": "def spans(values, least=2):\n    return [[0, 2], [2, 5]]\n"})
    write(folder, {"spans/hidden/least.json": oracle([*LEAST, {"args": [[]], "expect": [1]}])})
    easy = [{"args": [[n, n, 2, 2, 2]], "expect": [[0, 2], [2, 5]]} for n in (1, 3, 4)]
    write(folder, {"spans/hidden/plain.json": oracle(easy)})
    made = check(engine, images, owner, folder)
    assert not made.admitted
    assert made.reference_scores == ("0.5", "0.5", "0.5")
    assert any(one.startswith("reference: scores 0.5 in grading 1: group least") for one in made.reasons)
    assert "base: behaviour group plain passes" in made.reasons
    assert made.mutants is None, "later clauses say nothing of such a task"


IMPURE = REFERENCE.replace(
    "    found = []\n",
    """    found = []
    names = list({"one", "two", "three", "four", "five", "six", "seven", "eight"})
    if names != list(dict.fromkeys(names)) or names[0] != "FIRST":
        return found
    from datetime import date
    if date.today().year > 2030:
        return found
    import colorsys
""",
)
LEAKED = "def spans(values, least=2):\n    return None\n\n\n'''" + REFERENCE + "'''\n"


def test_one_task_with_every_other_fault_is_refused_for_each(engine, images, tmp_path, owner):
    folder = write_little(tmp_path / "little")
    task = folder / "spans"
    write(task, {"before/old/draft.txt": REFERENCE, "before/spans.py": "spans = None\n"})
    write(task, {"hidden/plain.json": oracle(PLAIN[2:]), "hidden/least.json": oracle(LEAST[:1] + LEAST[2:4])})
    write(task, {"reference/reply.md": reply(_impure(engine, images))})
    write(task, {"wrong/loses-the-end/reply.md": reply("# another spelling\n" + REFERENCE)})
    edit(task / "task.toml", "each as a list of its first place", "each as a pair of its first place")
    made = check(engine, images, owner, folder)
    assert not made.admitted
    found = "\n".join(made.reasons)
    assert made.reference_scores == ("1.0", "1.0", "1.0"), found
    assert "candidate loses-the-end: is wrong, yet scores 1.0" in found
    assert "spec: checklist 1: the prompt does not say" in found
    assert "spec: checklist 1: candidate 'loses-the-end' passes every group" in found
    assert "leak: workspace/old/draft.txt holds lines of the reference" in found
    assert "mutants: survives: spans.py:" in found
    assert "determinism: under hash seed 4242, 2031-07-19" in found
    assert "purity: spans.py:" in found
    assert "uses the clock" in found
    assert "with every file closed" in found
    assert "ladder: partial ignores-least scores 0.5 (" in found
    assert "which is not above wrong loses-the-end with 1.0 (1.0 of its checks)" in found
    assert clauses(made) == {"candidate loses-the-end", "ladder", "spec", "leak", "mutants", "determinism", "purity"}


def _impure(engine, images) -> str:
    """A reference that is right under hash seed 0 alone, before 2031, and where it can import as it runs."""
    from harness.engine.sandbox import Sandbox
    from harness.engine.spec import Role, SandboxSpec

    words = '["one", "two", "three", "four", "five", "six", "seven", "eight"]'
    spec = SandboxSpec(role=Role.PROBE, image=images["python"].handle, workdir="/")
    with Sandbox(engine, spec, "admission-tests") as box:
        ran = box.run(
            ("python3", "-c", f"print(list(set({words}))[0])"),
            timeout_s=60,
            max_output=1000,
            env={"PYTHONHASHSEED": "0"},
        )
    return IMPURE.replace("FIRST", ran.stdout.decode().strip())


def test_a_good_task_is_admitted_remembered_and_bound_to_its_hashes(engine, images, tmp_path):
    folder, home = write_little(tmp_path / "little"), tmp_path / "home"
    assert trialbox(home, "suite", "lock", str(folder)).code == 0

    first = trialbox(home, "suite", "check", str(folder), "--json")
    (task,) = first.json["tasks"]
    assert (first.code, task["admitted"], task["reasons"]) == (0, True, []), task["reasons"]
    assert task["reference_scores"] == ["1.0", "1.0", "1.0"]
    assert task["base_scores"] == ["0.0", "0.0", "0.0"]
    assert task["spread"] == "0.0"
    rungs = {(one["solver"], one["candidate"]): (one["f"], one["gate"]) for one in task["ladder"]}
    assert rungs["wrong", "loses-the-end"] == ("0.0", "plain, least")
    assert rungs["partial", "ignores-least"] == ("0.5", "least")
    assert rungs["reference", ""] == ("1.0", "")
    assert rungs["noop", ""][0] == "0.0"
    assert task["separation"] == "checks"
    mutants = task["mutants"]
    assert (mutants["total"], mutants["killed"], mutants["equivalent"]) == (17, 16, 1)
    assert float(task["timing"]["share"]) < 0.2
    assert task["purity"]["impurities"] == []
    assert len(task["determinism"]["conditions"]) == 3
    assert task["leaks"]["hits"] == []
    assert task["leaks"]["files"] > 1000
    assert task["frontier"]["status"] == "not_measured"
    assert task["unshown"] == []
    assert first.json["record"].startswith("sha256:")
    assert first.json["suites"][0]["lock"] == {"holds": True, "problem": ""}

    again = trialbox(home, "suite", "check", str(folder))
    assert again.code == 0
    assert "1 of 1 task admitted, 1 of them as checked before" in again.out
    (header,) = (row for row in again.out.splitlines() if "noop" in row)
    assert " ".join(header.split()).startswith("task noop wrong partial breaker reference ladder base mutants")
    (shown,) = (row for row in again.out.splitlines() if row.split()[:1] == ["spans"])
    assert shown.split()[1:9] == ["0.0", "(0.0)", "0.0", "(0.5)", "0.5", "(0.7)", "-", "1.0"]

    edit(folder / "spans/task.toml", "Stretches of equal values", "Another title")
    retitled = trialbox(home, "suite", "check", str(folder), "--json")
    assert (retitled.code, retitled.json["tasks"][0]["remembered"]) == (0, True)
    assert retitled.json["tasks"][0]["score_hash"] == task["score_hash"]

    edit(folder / "spans/hidden/plain.json", '"cases"', ' "cases"')
    changed = trialbox(home, "suite", "check", str(folder), "--json")
    assert changed.code == 1
    (reason,) = changed.json["tasks"][0]["reasons"]
    assert reason == "lock: the task has another score hash, yet the version is still 1.0.0"
    assert not changed.json["suites"][0]["lock"]["holds"]
    refused = trialbox(home, "suite", "lock", str(folder))
    assert refused.code == 2
    assert "raise the version" in refused.line

    edit(folder / "suite.toml", "1.0.0", "1.0.1")
    assert trialbox(home, "suite", "lock", str(folder), "--json").json["version"] == "1.0.1"
    raised = trialbox(home, "suite", "check", str(folder), "--json")
    assert (raised.code, raised.json["tasks"][0]["remembered"]) == (0, True)
    assert json.loads((folder / "suite.lock.json").read_text())["history"].keys() == {"1.0.0", "1.0.1"}

    edit(folder / "spans/task.toml", "created = 2026-11-30", "created = 2026-01-01\npublished = 2026-01-02")
    assert trialbox(home, "suite", "lock", str(folder)).code == 0
    claimed = trialbox(home, "suite", "check", str(folder), "--json")
    assert (claimed.code, claimed.json["suites"][0]["lock"]["holds"]) == (1, True)
    (reason,) = claimed.json["tasks"][0]["reasons"]
    assert reason.startswith("decontaminated: published is 2026-01-02, not after the cutoff of ")


def test_mutants_are_listed_with_what_is_recorded_of_them(tmp_path):
    folder = write_little(tmp_path / "little")
    listed = trialbox(tmp_path / "home", "suite", "check", str(folder), "--mutants", "--json")
    task = load_suite(folder).tasks[0]
    rows = listed.json["mutants"]
    assert [row["id"] for row in rows] == [one.id for one in mutants_of(task.before, task.reference.tree)]
    assert sum(row["chosen"] for row in rows) == 16
    (recorded,) = (row for row in rows if row["equivalent"])
    assert (recorded["id"], recorded["chosen"]) == ("spans.py:6:constant:4e02e825", False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "SUITE: is missing"),
        (("smoke", "--all"), "stands beside --all"),
        (("--all", "--task", "x"), "names a task of no suite"),
        (("smoke", "--task", "no-such-task"), "has no task 'no-such-task'"),
        (("no-such-suite",), "there is no such suite"),
        (("smoke", "--concurrency", "0"), "0 is too small"),
    ],
)
def test_mistakes_are_one_line(tmp_path, words, said):
    ran = trialbox(tmp_path / "home", "suite", "check", *words, "--mutants")
    assert ran.code == 2
    assert said in ran.line
