"""Tasks that take replies, checklists and follow-up tickets: read whole, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.suites.formats.reply import module_of
from harness.suites.groups import GroupKind
from harness.suites.hashing import ScoreBasis, authoring_hash, score_hash
from harness.suites.load import load_suite, load_task
from harness.suites.task import Task
from harness.suites.tree import Tree
from tests.formats_rig import GOOD_DIFF, RUNS, TOLL, fenced, write_function_task, write_patch_task
from tests.suites_rig import EXPOSURE, LOCKS, edit, write, write_repo_task, write_suite

BASIS = ScoreBasis(image_locks={**LOCKS, "typing": "sha256:" + "5" * 64})


@pytest.fixture
def function(tmp_path: Path) -> Path:
    return write_function_task(tmp_path / "runs")


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    return write_patch_task(tmp_path / "toll")


def _refused(folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        load_task(folder)
    text = str(caught.value)
    assert "\n" not in text
    assert str(folder) in text
    return text


def _hashes(task: Task) -> tuple[str, str]:
    return score_hash(task, BASIS), authoring_hash(task)


def test_a_function_task(function: Path) -> None:
    task = load_task(function)
    assert task.before == Tree()
    assert task.reference.tree is not None
    assert task.reference.tree["runs.py"].data == RUNS.encode()
    assert task.reference.reply == fenced(RUNS)
    assert [(one.name, one.kind, one.reply is not None) for one in task.wrong] == [
        ("counts-all", "wrong", True),
        ("no-empty", "partial", True),
    ]
    assert [entry.groups for entry in task.spec.checklist] == [("plain",), ("empty",)]
    assert task.limits.grade_wall_s == 30


def test_a_function_task_may_start_from_files(function: Path) -> None:
    write(function, {"before/runs.py": "def runs(text):\n    raise NotImplementedError\n", "before/notes.txt": "n\n"})
    task = load_task(function)
    assert task.reference.tree is not None
    assert sorted(task.reference.tree) == ["notes.txt", "runs.py"]


def test_a_patch_task(patch: Path) -> None:
    task = load_task(patch)
    assert (task.reference.tree, task.reference.reply) == (None, fenced(GOOD_DIFF, "diff"))
    assert task.spec.budget_lines == 6


FUNCTION_MISTAKES = {
    "no target": ('target = "runs.py"\n', "", "task.toml: target: this key is missing"),
    "no export": ('export = "runs"\n', "", "export: this key is missing; expected a bare name of Python's"),
    "no module": ('"runs.py"', '"runs.txt"', "target: should be a Python module's path such as 'solution.py'"),
    "no name": ('"runs.py"', '"my-runs.py"', "target: should be a Python module's path"),
    "outside": ('"runs.py"', '"../runs.py"', "target: path '../runs.py' should be relative"),
    "another target": (
        'export = "runs"',
        'export = "walk"',
        "group 'plain' is about 'runs:runs', the task about 'runs:walk'",
    ),
    "commands": ('oracle = "cases"', 'oracle = "commands"', "groups[0].oracle: should be one of 'cases', 'operations'"),
    "budget": ('export = "runs"', 'export = "runs"\nbudget_lines = 3', "budget_lines: is an unknown key"),
    "typecheck": (
        'export = "runs"',
        'export = "runs"\ntypecheck = "yes"',
        "typecheck: input should be a valid boolean",
    ),
    "delete": ('name = "counts-all"', 'name = "counts-all"\ndelete = ["a"]', "wrong[0].delete: is an unknown key"),
    "reference": ("[limits]", '[reference]\ndelete = ["a"]\n[limits]', "reference: is an unknown key"),
    "kind": ('kind = "partial"', 'kind = "half"', "wrong[1].kind: input should be 'wrong', 'partial' or 'breaker'"),
    "checklist group": (
        'groups = ["plain"]',
        'groups = ["plane"]',
        "checklist[0].groups names 'plane'; known: plain, empty",
    ),
    "checklist wrong": (
        'wrong = ["counts-all"]',
        'wrong = ["c"]',
        "checklist[0].wrong names 'c'; known: counts-all, no-empty",
    ),
    "checklist empty": ('groups = ["empty"]', "groups = []", "checklist[1].groups: should have at least 1 item"),
    "no exposure": (f'exposure = "{EXPOSURE}"\n', "", "canary.exposure is missing"),
}


@pytest.mark.parametrize(("old", "new", "said"), FUNCTION_MISTAKES.values(), ids=FUNCTION_MISTAKES.keys())
def test_a_mistake_in_a_function_task_is_one_line(function: Path, old: str, new: str, said: str) -> None:
    edit(function / "task.toml", old, new)
    assert said in _refused(function)


REPLY_MISTAKES = {
    "missing": (None, "reply.md: is missing"),
    "no block": ("I can't.\n", "reply.md: holds no fenced block marked python3 or python or py or no word"),
    "another block": (fenced("x\n", "text"), "reply.md: holds no fenced block"),
    "blank block": (fenced("\n  \n"), "reply.md: holds no fenced block"),
    "canary": (fenced(f"# {EXPOSURE}\n"), "reference/reply.md: holds a canary"),
    "too long": ("x" * (64 << 10) + fenced(RUNS), "reply.md: is longer than the 64 KiB of limits.output_kb"),
}


@pytest.mark.parametrize(("text", "said"), REPLY_MISTAKES.values(), ids=REPLY_MISTAKES.keys())
def test_a_reply_must_be_one(function: Path, text: str | None, said: str) -> None:
    place = function / "reference" / "reply.md"
    place.unlink() if text is None else place.write_text(text)
    assert said in _refused(function)


def test_more_of_what_a_function_task_must_be(function: Path) -> None:
    (function / "reference" / "notes.txt").write_text("x")
    assert "notes.txt: is no part of a reply, which is reply.md alone" in _refused(function)
    (function / "reference" / "notes.txt").unlink()
    (function / "reference" / "reply.md").write_bytes(b"\xff" + fenced(RUNS).encode())
    assert "reply.md: is not UTF-8 text" in _refused(function)
    write(function, {"reference/reply.md": fenced(RUNS), "wrong/counts-all/reply.md": "Again.\n" + fenced(RUNS)})
    assert "counts-all: is identical to the reference" in _refused(function)
    write_function_task(function)
    write(function, {"before/runs.py": RUNS})
    assert "reply.md: leaves runs.py as it is" in _refused(function)
    write(function, {"before/runs.py": "x = 1\n"})
    plain = function / "hidden" / "plain.json"
    told = json.loads(plain.read_text())
    plain.write_text(json.dumps({**told, "cases": told["cases"][:1]}))
    assert "hidden: holds 2 calls; a function is graded by 3 at least" in _refused(function)


PATCH_MISTAKES = {
    "budget": (
        "budget_lines = 6",
        "budget_lines = 0",
        "budget_lines: input should be greater than or equal to 1, got 0",
    ),
    "export alone": ("budget_lines = 6", 'export = "toll"', "export names something in a target: target is missing"),
    "typecheck alone": ("budget_lines = 6", "typecheck = true", "typecheck is about a target: target is missing"),
    "no regression": ('kind = "regression"', 'kind = "behaviour"', "groups holds no regression group"),
    "follow-up": ("budget_lines = 6", "[follow_up]\n", "follow_up"),
}


@pytest.mark.parametrize(("old", "new", "said"), PATCH_MISTAKES.values(), ids=PATCH_MISTAKES.keys())
def test_a_mistake_in_a_patch_task_is_one_line(patch: Path, old: str, new: str, said: str) -> None:
    edit(patch / "task.toml", old, new)
    assert said in _refused(patch)


def test_more_of_what_a_patch_task_must_be(patch: Path) -> None:
    write(patch, {"reference/reply.md": fenced(TOLL)})
    assert "reply.md: holds no fenced block marked patch or diff" in _refused(patch)
    write(
        patch,
        {"reference/reply.md": fenced(GOOD_DIFF, "diff"), "wrong/always-free/reply.md": fenced(GOOD_DIFF, "patch")},
    )
    assert "always-free: is identical to the reference" in _refused(patch)
    write_patch_task(patch)
    for path in sorted((patch / "before").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert "before: is empty" in _refused(patch)
    (patch / "before").rmdir()
    assert "before: is not a folder" in _refused(patch)


def test_with_keep_going_the_rest_of_a_suite_is_loaded(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "little")
    write_function_task(suite / "runs")
    write_patch_task(suite / "toll")
    edit(suite / "suite.toml", 'tasks = ["adder",', 'require_checklist = true\ntasks = ["runs", "toll", "adder",')
    assert len(load_suite(suite).tasks) == 4
    (suite / "runs" / "reference" / "reply.md").write_text("no")
    edit(suite / "toll" / "task.toml", "budget_lines = 6", "budget_lines = true")
    loaded = load_suite(suite, keep_going=True)
    assert ([task.id for task in loaded.tasks], len(loaded.errors)) == (["adder", "plain-adder"], 2)
    assert loaded.spec.require_checklist
    edit(suite / "suite.toml", "require_checklist = true", 'require_checklist = "no"')
    with pytest.raises(UserError, match="require_checklist"):
        load_suite(suite, keep_going=True)


@pytest.mark.parametrize(
    ("path", "module"),
    [("solution.py", "solution"), ("a/b.py", "a.b"), ("a/__init__.py", "a"), ("a_1/B2.py", "a_1.B2")],
)
def test_a_path_as_a_module(path: str, module: str) -> None:
    assert module_of(path) == module


# ---------------------------------------------------------------------------------------------------------- hashes

SCORE = [
    ("task.toml", 'export = "runs"\n', 'export = "runs"\ntypecheck = true\n'),
    ("issue.md", "Write", "write"),
    ("hidden/empty.json", '"expect"', ' "expect"'),
    ("task.toml", "output_kb = 64", "output_kb = 65"),
]
AUTHORING = [
    ("reference/reply.md", "That should do.", "That will do."),
    ("wrong/counts-all/reply.md", "Here", "There"),
    ("task.toml", 'kind = "partial"', 'kind = "wrong"'),
    ("task.toml", "neighbours that are equal", "equal neighbours"),
    ("task.toml", 'wrong = ["counts-all"]', 'wrong = ["counts-all", "no-empty"]'),
]


def test_which_hash_a_change_moves(function: Path) -> None:
    score, authoring = _hashes(load_task(function))
    for path, old, new in SCORE:
        edit(function / path, old, new)
        changed = _hashes(load_task(function))
        assert (changed[0] != score, changed[1]) == (True, authoring)
        edit(function / path, new, old)
    for path, old, new in AUTHORING:
        edit(function / path, old, new)
        changed = _hashes(load_task(function))
        assert (changed[0], changed[1] != authoring) == (score, True)
        edit(function / path, new, old)
    edit(function / "task.toml", "Runs of a text", "Another title")
    assert _hashes(load_task(function)) == (score, authoring)


def test_the_target_the_budget_and_the_type_checkers_lock_move_the_score_hash(patch: Path) -> None:
    seen = {score_hash(load_task(patch), BASIS)}
    for text in (
        "budget_lines = 7",
        'target = "bridge/toll.py"',
        'target = "bridge/toll.py"\nexport = "toll"',
        'target = "bridge/toll.py"\nexport = "toll"\ntypecheck = true',
    ):
        edit(patch / "task.toml", "budget_lines = 6", text)
        seen.add(score_hash(load_task(patch), BASIS))
        last = load_task(patch)
        edit(patch / "task.toml", text, "budget_lines = 6")
    assert len(seen) == 5
    other = ScoreBasis(image_locks={**BASIS.image_locks, "typing": "sha256:" + "6" * 64})
    assert score_hash(last, other) != score_hash(last, BASIS)
    with pytest.raises(UserError, match="no image 'typing' is locked"):
        score_hash(last, ScoreBasis(image_locks=LOCKS))


# ------------------------------------------------------------------------------------------------------- follow-up

FOLLOW_UP = """
[follow_up]
changes = ["plain"]

[[follow_up.groups]]
name = "three"
kind = "behaviour"
oracle = "cases"
file = "follow_up/hidden/three.json"

[[follow_up.groups]]
name = "later"
kind = "regression"
oracle = "pytest"
files = ["follow_up/hidden/test_later.py"]
ids = ["test_later.py::test_one"]
"""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    folder = write_repo_task(tmp_path / "adder")
    with (folder / "task.toml").open("a") as out:
        out.write(FOLLOW_UP)
    write(
        folder,
        {
            "follow_up/issue.md": "Let add take a third number.\n",
            "follow_up/reference/a.py": "def add(x, y, z=0):\n    return x + y + z\n",
            "follow_up/hidden/three.json": json.dumps(
                {"canary": EXPOSURE, "target": "a:add", "cases": [{"args": [1, 2, 3], "expect": 6}]}
            ),
            "follow_up/hidden/test_later.py": f"# {EXPOSURE}\ndef test_one():\n    pass\n",
        },
    )
    return folder


def test_a_follow_up_is_a_task_that_starts_from_the_reference(later: Path) -> None:
    task = load_task(later)
    assert task.follow_up is not None
    after = task.follow_up.task
    assert after.before == task.reference.tree
    assert after.prompt == "Let add take a third number.\n"
    assert [(one.name, one.kind) for one in after.groups] == [
        ("three", GroupKind.BEHAVIOUR),
        ("later", GroupKind.REGRESSION),
        ("adds", GroupKind.REGRESSION),
    ]
    assert sorted(after.hidden) == ["adds.json", "test_later.py", "three.json"]
    assert sorted(after.oracles) == ["adds", "three"]
    assert sorted(after.hidden_for(after.groups[1])) == ["test_later.py"]
    assert after.reference.tree is not None
    assert after.reference.tree["a.py"].data.startswith(b"def add(x, y, z=0)")
    assert (after.wrong, after.follow_up) == ((), None)


def test_which_hash_a_follow_up_moves(later: Path) -> None:
    score, authoring = _hashes(load_task(later))
    for path, old, new in (
        ("follow_up/issue.md", "third", "3rd"),
        ("follow_up/hidden/three.json", "6", "7"),
        ("task.toml", 'changes = ["plain"]', "changes = []"),
    ):
        edit(later / path, old, new)
        if "changes" not in old:
            assert (_hashes(load_task(later))[0] != score, _hashes(load_task(later))[1]) == (True, authoring)
        else:
            assert _hashes(load_task(later))[0] != score
        edit(later / path, new, old)
    edit(later / "follow_up" / "reference" / "a.py", "x + y + z", "z + y + x")
    assert _hashes(load_task(later))[0] == score
    assert _hashes(load_task(later))[1] != authoring


FOLLOW_UP_MISTAKES = {
    "no such group": (
        'changes = ["plain"]',
        'changes = ["plane"]',
        "follow_up.changes names 'plane'; known: adds, plain",
    ),
    "name twice": ('name = "three"', 'name = "adds"', "'adds'"),
    "no behaviour": (
        'kind = "behaviour"\noracle = "cases"\nfile = "follow_up',
        'kind = "regression"\noracle = "cases"\nfile = "follow_up',
        "a follow-up needs at least one",
    ),
    "own hidden": (
        '"follow_up/hidden/three.json"',
        '"hidden/adds.json"',
        "follow_up.groups[0].file: string should match pattern",
    ),
    "prompt": ("[follow_up]", '[follow_up]\nprompt = "issue.md"', "prompt should lie in follow_up/"),
    "unknown key": ("[follow_up]", "[follow_up]\nwhen = 1", "follow_up.when: is an unknown key"),
}


@pytest.mark.parametrize(("old", "new", "said"), FOLLOW_UP_MISTAKES.values(), ids=FOLLOW_UP_MISTAKES.keys())
def test_a_mistake_in_a_follow_up_is_one_line(later: Path, old: str, new: str, said: str) -> None:
    edit(later / "task.toml", old, new)
    assert said in _refused(later)


def test_what_lies_in_a_follow_up(later: Path) -> None:
    write(later, {"follow_up/notes.md": "x"})
    assert "notes.md: is no part of a task" in _refused(later)
    (later / "follow_up" / "notes.md").unlink()
    write(later, {"follow_up/hidden/adds.json": "{}"})
    assert "adds.json: hidden/ of the task has a file of that name" in _refused(later)
    (later / "follow_up" / "hidden" / "adds.json").unlink()
    write(later, {"follow_up/reference/a.py": "def add(x, y):\n    return x + y\n"})
    assert "leaves" in _refused(later)
    write(later, {"follow_up/issue.md": " \n"})
    assert "issue.md: is empty" in _refused(later)
