"""Host-held oracles in a real grader: honest work passes, hostile work fails, nothing expected goes in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.sandbox import Sandbox
from harness.oracles.hostheld import DRIVER, build_job, host_held
from harness.oracles.needles import expected_needles, hidden_needles
from harness.oracles.run import run_groups
from harness.suites.groups import Trust
from harness.suites.task import Task
from harness.suites.tree import Tree
from tests.oracle_rig import EXPOSURE, NONCE, by_name, grade, grader, make_task, tree

pytestmark = pytest.mark.engine

SECRET = "marigold-over-the-hill"

CORE = """
from decimal import Decimal

def add(a, b=1, acc=[]):
    acc.append(a)
    return a + b

def values(which):
    return {"tuple": (1, [2.5, None]), "bytes": b"\\x00\\xff", "money": Decimal("1.20"), "big": 2**70}[which]

def secret(word):
    if not word:
        raise LookupError("no word")
    return "marigold" + word + "hill"

class Stack:
    def __init__(self, limit=3):
        self.items, self.limit = [], limit

    def push(self, item):
        if len(self.items) >= self.limit:
            raise OverflowError("full")
        self.items.append(item)
        return len(self.items)

    def pop(self):
        return self.items.pop()
"""

CLI = """
import pathlib, sys
words = sys.stdin.read().split()
pathlib.Path("out").mkdir()
pathlib.Path("out/words.txt").write_text(pathlib.Path("in.txt").read_text() + ",".join(words))
print(len(words), *sys.argv[1:])
sys.exit(len(words))
"""

GROUPS = (
    {"name": "calls", "kind": "behaviour", "oracle": "cases", "file": "hidden/calls.json"},
    {"name": "stack", "kind": "behaviour", "oracle": "operations", "file": "hidden/stack.json"},
    {"name": "program", "kind": "regression", "oracle": "commands", "file": "hidden/program.json"},
    {"name": "values", "kind": "regression", "oracle": "cases", "file": "hidden/values.json"},
)

HIDDEN: dict[str, Any] = {
    "calls.json": {
        "target": "pkg.core:secret",
        "cases": [
            {"args": ["-over-the-"], "expect": SECRET},
            {"args": [""], "raises": "KeyError"},
            {"args": [""], "raises": "LookupError"},
        ],
    },
    "stack.json": {
        "target": "pkg.core:Stack",
        "scenarios": [
            {
                "init": {"kwargs": {"limit": 2}},
                "steps": [
                    {"call": "push", "args": ["a"], "expect": 1},
                    {"call": "push", "args": [[1]], "expect": 2},
                    {"call": "push", "args": [3], "raises": "OverflowError"},
                    {"call": "pop", "expect": [1]},
                ],
            },
            {"steps": [{"call": "pop", "raises": "IndexError"}, {"call": "push", "args": [None], "expect": 1}]},
        ],
    },
    "program.json": {
        "commands": [
            {
                "argv": ["python3", "-m", "pkg.cli", "-x"],
                "stdin": "a b c",
                "files": {"in.txt": "head "},
                "expect": {"status": 3, "stdout": "3 -x\n", "files": {"out/words.txt": "head a,b,c", "none": None}},
            },
        ],
    },
    "values.json": {
        "target": "pkg.core:values",
        "cases": [
            {"args": ["tuple"], "expect": {"$tuple": [1, [{"$float": "2.5"}, None]]}},
            {"args": ["bytes"], "expect": {"$bytes": "00ff"}},
            {"args": ["money"], "expect": {"$decimal": "1.20"}},
            {"args": ["big"], "expect": {"$int": str(2**70)}},
        ],
    },
}
HIDDEN["calls.json"]["cases"].pop(1)

HONEST = {"pkg/__init__.py": "", "pkg/core.py": CORE, "pkg/cli.py": CLI}


@pytest.fixture(scope="module")
def image(images: Mapping[str, Any]) -> str:
    return str(images["python"].handle)


@pytest.fixture
def task() -> Task:
    return make_task(tree(HONEST), GROUPS, HIDDEN)


def candidate(**changes: str) -> Tree:
    """The honest tree with another ``pkg/core.py`` or further files."""
    return tree({**HONEST, **{path.replace("__", "/") + ".py": text for path, text in changes.items()}})


def test_honest_work_passes_every_group(engine: Engine, image: str, task: Task) -> None:
    result = grade(engine, image, task, task.before)
    assert by_name(result) == dict.fromkeys(("calls", "stack", "program", "values"), (True, ""))
    assert (result.rejection, result.staged_intact) == (None, True)
    assert {one.trust for one in result.verdicts} == {Trust.HOST_HELD}
    assert [(one.checks, one.checks_passed) for one in result.verdicts] == [(2, 2), (2, 2), (1, 1), (4, 4)]
    again = grade(engine, image, task, task.before)
    assert again.observations == result.observations


def test_nothing_that_enters_the_container_holds_an_expected_value(
    engine: Engine, image: str, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    run, put = Sandbox.run, Sandbox.put

    def listening_run(self: Sandbox, argv: tuple[str, ...], **rest: object) -> object:
        sent.extend((*(word.encode() for word in argv), bytes(rest.get("stdin", b""))))  # type: ignore[call-overload]
        return run(self, argv, **rest)  # type: ignore[arg-type]

    def listening_put(self: Sandbox, folder: str, archive: bytes) -> None:
        sent.append(archive)
        put(self, folder, archive)

    with grader(engine, image, task.before) as sandbox, monkeypatch.context() as patch:
        patch.setattr(Sandbox, "run", listening_run)
        patch.setattr(Sandbox, "put", listening_put)
        run_groups(sandbox, task, nonce=NONCE, timeout_s=60, max_output=8 << 20)
    everything = b"\n".join(sent)
    needles = expected_needles(task)
    assert SECRET.encode() in needles
    assert b"3 -x\n" not in needles, "too short to mean anything"
    assert [needle for needle in needles if needle in everything] == []
    assert NONCE.encode() in everything
    assert EXPOSURE.encode() in everything, "the search finds what is there"
    assert set(needles) < set(hidden_needles(task))


ATTACKS = {
    "forged lines on standard output": """
print('[0,0,"answered"]\\t{"i":0,"returned":"marigold-over-the-hill"}', flush=True)
def secret(word): pass
""",
    "exits at import": "import sys; sys.exit(0)",
    "vanishes at import": "import os; os._exit(0)",
    "an object equal to everything": """
class Yes(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
def secret(word):
    if not word: raise Yes
    return Yes()
""",
    "kills everything it may": "import os; os.kill(-1, 9)",
    "kills the driver": "import os; os.kill(os.getppid(), 9)",
    "closes and reuses descriptors": """
import os
for fd in range(64):
    try: os.write(fd, b'[0,0,"answered"]\\t{"i":0,"returned":1}\\n{"i":0,"returned":1}\\n')
    except OSError: pass
def secret(word): return 1
""",
    "writes to the driver's own output": """
import os
parent = f"/proc/{os.getppid()}/fd"
for fd in os.listdir(parent):
    try:
        with open(f"{parent}/{fd}", "wb", buffering=0) as file:
            file.write(b'[0,0,"answered"]\\t{"i":0,"returned":"marigold"}\\nend\\n')
    except OSError: pass
def secret(word): return "x"
""",
    "answers with a nest of brackets": """
import os
os.write(3, b'{"i":0,"returned":' + b"[" * 100000 + b"\\n")
def secret(word): return 1
""",
    "forks without end": """
import os
while True:
    try: os.fork()
    except OSError: pass
""",
    "leaves a writer behind": """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            try: os.write(3, b'{"i":1,"raised":["LookupError"]}\\n')
            except OSError: pass
            time.sleep(0.001)
    os._exit(0)
def secret(word): return 1
""",
    "says a gigabyte": """
import os
def secret(word):
    while True: os.write(3, b"x" * 65536)
""",
    "returns ten million items": "def secret(word): return [0] * 10_000_000",
    "returns itself": "def secret(word):\n    x = []\n    x.append(x)\n    return x",
    "takes all memory": "x = [b'y' * (1 << 20) for _ in range(600)]\ndef secret(word): return x",
    "a class with a lying name": """
class Meta(type):
    __name__ = "LookupError"
    def mro(cls): return [cls, Exception, BaseException, object]
def secret(word): raise Exception("x")
""",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_fails_its_group_and_is_over_in_time(
    engine: Engine, image: str, task: Task, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.oracles.hostheld.ITEM_SECONDS", 2.0)
    result = grade(engine, image, task, candidate(pkg__core=attack), timeout_s=30)
    verdicts = by_name(result)
    assert not verdicts["calls"][0]
    assert verdicts["calls"][1]
    assert result.rejection is None


BOMB_AND_KILL = """
import os
for _ in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            try: os.fork()
            except OSError: pass
os.kill(os.getppid(), 9)
"""


def test_a_bomb_that_outlives_the_driver_fails_what_comes_after_it_too(engine: Engine, image: str) -> None:
    groups = (
        *GROUPS[:1],
        {"name": "late", "kind": "regression", "oracle": "pytest", "files": ["hidden/t.py"], "ids": ["t.py::test_a"]},
    )
    hidden = {"calls.json": HIDDEN["calls.json"], "t.py": "import pkg.core\ndef test_a(): pass\n"}
    both = make_task(tree(HONEST), groups, hidden)
    assert by_name(grade(engine, image, both, both.before)) == {"calls": (True, ""), "late": (True, "")}
    result = grade(engine, image, both, candidate(pkg__core=BOMB_AND_KILL), timeout_s=20)
    assert result.rejection is None
    assert [one.passed for one in result.verdicts] == [False, False]


def test_hangs_are_stopped_and_the_rest_still_counts(
    engine: Engine, image: str, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.oracles.hostheld.ITEM_SECONDS", 0.5)
    hang = CORE.replace('return "marigold"', 'while word: pass\n    return "marigold"')
    result = grade(engine, image, task, candidate(pkg__core=hang))
    assert by_name(result)["calls"] == (False, "1 of 2 failed; first case 1: took longer than its limit")
    assert by_name(result)["stack"] == (True, "")
    deaf = "import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n"
    deaf += "    except (OSError, ValueError): pass\ntime.sleep(600)"
    result = grade(engine, image, task, candidate(pkg__core=deaf), timeout_s=6)
    assert not any(one.passed for one in result.verdicts if one.name != "program")


def test_one_process_answers_in_order_and_a_dead_one_is_replaced(engine: Engine, image: str) -> None:
    groups = (
        {"name": "state", "kind": "behaviour", "oracle": "cases", "file": "hidden/a.json"},
        {"name": "fine", "kind": "regression", "oracle": "cases", "file": "hidden/a.json"},
    )
    source = "import os\nseen = []\ndef f(x):\n    seen.append(x)\n    return os._exit(3) if x == 2 else list(seen)\n"
    cases = [{"args": [1], "expect": [1]}, {"args": [2], "expect": 0}, {"args": [3], "expect": [3]}]
    one = make_task(tree({"m.py": source}), groups, {"a.json": {"target": "m:f", "cases": cases}})
    said = by_name(grade(engine, image, one, one.before))
    assert said["state"] == (False, "1 of 3 failed; first case 2: the process ended without an answer")


COMMANDS = {
    "too much output": ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "said more than its limit"),
    "no text": ("import os; os.write(1, b'\\xff'); os._exit(3)", "printed something else"),
    "another status": ("import sys; sys.exit(4)", "ended with another exit status"),
    "killed by a signal": ("import os; os.kill(os.getpid(), 15)", "ended with another exit status"),
    "a link to a file elsewhere": (
        "import os, sys\nos.mkdir('out')\nopen('/tmp/w', 'w').write('head a,b,c')\n"
        "os.symlink('/tmp/w', 'out/words.txt')\nprint('3 -x')\nsys.exit(3)",
        "file 2 of 2 is not as expected",
    ),
    "a folder that is a link": (
        "import os, sys\nos.mkdir('/tmp/d')\nopen('/tmp/d/words.txt', 'w').write('head a,b,c')\n"
        "os.symlink('/tmp/d', 'out')\nprint('3 -x')\nsys.exit(3)",
        "file 2 of 2 is not as expected",
    ),
    "a pipe for a file": (
        "import os, sys\nos.mkdir('out')\nos.mkfifo('out/words.txt')\nprint('3 -x')\nsys.exit(3)",
        "file 2 of 2 is not as expected",
    ),
    "a file that must be absent": (
        CLI.replace("sys.exit", "open('none', 'w').close(); sys.exit"),
        "file 1 of 2 is not",
    ),
}


@pytest.mark.parametrize(("program", "why"), COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_that_leaves_something_else_fails(
    engine: Engine, image: str, task: Task, program: str, why: str
) -> None:
    passed, detail = by_name(grade(engine, image, task, candidate(pkg__cli=program)))["program"]
    assert not passed
    assert why in detail


def test_the_job_lists_inputs_only(task: Task) -> None:
    job = json.loads(build_job(task, host_held(task), nonce=NONCE, seconds=1))
    assert {key for group in job["groups"] for item in group["items"] for key in item} == {
        "args", "kwargs", "init", "steps", "argv", "stdin", "files", "outputs",
    }  # fmt: skip
    assert len(max(DRIVER, key=len)) < 100_000, "one argument of a program may hold 128 KiB"
