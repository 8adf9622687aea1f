"""Pytest groups in a real grader: pinned ids, sentinels, and the attacks that they are there for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.engine.client import Engine
from harness.engine.spec import ROOT_USER
from harness.oracles.run import run_groups
from harness.oracles.staging import REHASH, is_intact, stage
from harness.outcomes import Rejection
from harness.suites.groups import PytestGroup, Trust
from harness.suites.task import Task
from harness.suites.tree import Tree
from harness.workspace import pack
from tests.oracle_rig import EXPOSURE, NONCE, by_name, grade, grader, make_task, tree

pytestmark = pytest.mark.engine

ADD = "def add(a, b):\n    return a + b\n"
BROKEN = "def add(a, b):\n    return a - b\n"

NEW = f'''"""{EXPOSURE}"""
import pytest
from pkg.core import add
from helper import pairs


@pytest.mark.parametrize(("a", "b"), pairs())
def test_sum(a, b, tmp_path, capfd):
    print("noise")
    assert add(a, b) == a + b


class TestMore:
    def test_text(self):
        assert add("a", "b") == "ab"
'''

OLD = f'''"""{EXPOSURE}"""
import pkg


def test_version():
    assert pkg.VERSION == "1.0"


def test_not_pinned():
    raise RuntimeError
'''

GROUPS = (
    {
        "name": "sums",
        "kind": "behaviour",
        "oracle": "pytest",
        "files": ["hidden/test_new.py", "hidden/helper.py"],
        "ids": ["test_new.py::test_sum[1-2]", "test_new.py::test_sum[3-4]", "test_new.py::TestMore::test_text"],
    },
    {
        "name": "old",
        "kind": "regression",
        "oracle": "pytest",
        "files": ["hidden/sub/test_old.py"],
        "ids": ["sub/test_old.py::test_version"],
    },
)

HIDDEN = {
    "test_new.py": NEW,
    "helper.py": f'"""{EXPOSURE}"""\ndef pairs(): return [(1, 2), (3, 4)]\n',
    "sub/test_old.py": OLD,
}

HONEST = {"pkg/__init__.py": 'VERSION = "1.0"\n', "pkg/core.py": ADD, "tests/test_visible.py": "def test_a(): pass\n"}


@pytest.fixture(scope="module")
def image(images: Mapping[str, Any]) -> str:
    return str(images["python"].handle)


@pytest.fixture
def task() -> Task:
    return make_task(tree(HONEST), GROUPS, HIDDEN)


def candidate(core: str = BROKEN, **files: str) -> Tree:
    """The honest tree with another ``pkg/core.py`` and further files at the top."""
    return tree({**HONEST, "pkg/core.py": core, **{name.replace("__", "."): text for name, text in files.items()}})


def test_honest_work_passes_and_a_wrong_one_fails_where_it_is_wrong(engine: Engine, image: str, task: Task) -> None:
    result = grade(engine, image, task, task.before)
    assert by_name(result) == {"sums": (True, ""), "old": (True, "")}
    assert (result.rejection, result.staged_intact) == (None, True)
    assert [(one.trust, one.checks, one.checks_passed) for one in result.verdicts] == [
        (Trust.IN_PROCESS, 3, 3),
        (Trust.IN_PROCESS, 1, 1),
    ]
    wrong = grade(engine, image, task, candidate())
    assert by_name(wrong) == {"sums": (False, "3 of 3 failed; first test 1: failed"), "old": (True, "")}
    assert wrong.rejection is None


EVIL_CONFTEST = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome = "passed"
"""
EVIL_INI = "[pytest]\naddopts = -p evil\n"

NEUTRALISED = {
    "conftest planter": {"conftest__py": EVIL_CONFTEST},
    "addopts in pyproject.toml": {
        "pyproject__toml": '[tool.pytest.ini_options]\naddopts = "-p evil"\n', "evil__py": EVIL_CONFTEST,
    },
    "addopts in pytest.ini": {"pytest__ini": EVIL_INI, "evil__py": EVIL_CONFTEST},
    "addopts in tox.ini": {"tox__ini": EVIL_INI, "evil__py": EVIL_CONFTEST},
    "modules that shadow pytest's": {
        "_pytest__py": "import os; os._exit(0)", "pytest__py": "import os; os._exit(0)",
        "pluggy__py": "import os; os._exit(0)", "json__py": "import os; os._exit(0)",
        "hmac__py": "import os; os._exit(0)",
    },
    "hidden modules under the same names": {
        "helper__py": "def pairs(): return []", "test_new__py": "def test_sum(): pass",
    },
    "an interpreter hook": {"sitecustomize__py": "import os; os._exit(0)", "x__pth": "import os; os._exit(0)"},
    "bytecode of another source": {"pkg/core__pyc": "nonsense"},
    "a plugin as an installed distribution": {
        "evil-1__dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "evil-1__dist-info/METADATA": "Name: evil\nVersion: 1\n", "evil__py": EVIL_CONFTEST,
    },
}  # fmt: skip


@pytest.mark.parametrize("files", NEUTRALISED.values(), ids=NEUTRALISED.keys())
def test_what_is_neutralised_changes_nothing(engine: Engine, image: str, task: Task, files: dict[str, str]) -> None:
    wrong = grade(engine, image, task, candidate(**files))
    assert by_name(wrong)["sums"] == (False, "3 of 3 failed; first test 1: failed")
    right = grade(engine, image, task, candidate(ADD, **files))
    assert by_name(right) == {"sums": (True, ""), "old": (True, "")}


FAILING = {
    "exits at import": ("import sys; sys.exit(0)", "did not run|ended before|was not collected"),
    "vanishes at import": ("import os; os._exit(0)", "the session ended before it was done"),
    "vanishes in a test": ("import os\ndef add(a, b): os._exit(0)", "the session ended before it was done"),
    "ends the session": ("import pytest\ndef add(a, b): pytest.exit('done', 0)", "did not run|ended before|failed"),
    "skips at import": ("import pytest; pytest.skip('x', allow_module_level=True)", "was not collected"),
    "skips in the test": ("import pytest\ndef add(a, b): pytest.skip('x')", "was skipped"),
    "expects to fail": ("import pytest\ndef add(a, b): pytest.xfail('x')", "was expected to fail"),
    "interrupts": ("def add(a, b): raise KeyboardInterrupt", "did not run|ended before|failed"),
    "prints what passes": (
        "import os\nfor fd in (1, 2):\n"
        '    os.write(fd, b\'test_new.py::test_sum[1-2] PASSED\\n0 {"e":"finished"}\\nend\\n3 passed\\n\')\n' + BROKEN,
        "failed",
    ),
    "writes on every descriptor": (
        "import os\nfor fd in range(3, 128):\n"
        '    try: os.write(fd, b\'0 {"e":"finished"}\\n\' * 3)\n    except OSError: pass\n' + BROKEN,
        "something other than the reporter",
    ),
    "writes into the parent": (
        "import os\np = os.getppid()\nfound = []\n"
        "for name in range(64):\n"
        "    try: found.append(os.open(f'/proc/{p}/fd/{name}', os.O_WRONLY))\n    except OSError: pass\n"
        "try: found.append(os.open(f'/proc/{p}/mem', os.O_RDWR))\n"
        "except OSError: pass\n"
        "assert not found\n" + BROKEN,
        "first test 1: failed",
    ),
    "kills the parent": ("import os; os.kill(os.getppid(), 9)", "ended before"),
    "kills everything": ("import os; os.kill(-1, 9)", "ended before"),
    "a module it can't import": ("import no_such_module", "was not collected"),
    "a background process that rewrites the hidden files": (
        "import os, glob\n"
        "if os.fork() == 0:\n    os.setsid()\n    while True:\n"
        "        for path in glob.glob('/grade/*/*/*'):\n"
        "            try: open(path, 'w').write('def test_sum(): pass')\n            except OSError: pass\n"
        "            try: os.unlink(path)\n            except OSError: pass\n" + BROKEN,
        "first test 1: failed",
    ),
    "forks without end": ("import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n", "ended before"),
    "floods": ("import os\nwhile True: os.write(1, b'x' * 65536); os.write(65, b'x' * 65536)", "ended before"),
}


@pytest.mark.parametrize(("core", "why"), FAILING.values(), ids=FAILING.keys())
def test_an_attack_on_the_session_fails_its_group(engine: Engine, image: str, task: Task, core: str, why: str) -> None:
    result = grade(engine, image, task, candidate(core), timeout_s=16)
    passed, detail = by_name(result)["sums"]
    assert not passed
    assert any(part in detail for part in why.split("|")), detail
    assert (result.rejection, result.staged_intact) == (None, True)


FLIPPING = {
    "reports that always pass": (
        "from _pytest.reports import TestReport\nmake = TestReport.from_item_and_call.__func__\n"
        "def lie(cls, item, call):\n    report = make(cls, item, call)\n    report.outcome = 'passed'\n"
        "    return report\nTestReport.from_item_and_call = classmethod(lie)\n"
    ),
    "tests that are not called": ("import _pytest.python as p\np.Function.runtest = lambda self: None\n"),
    "calls that swallow exceptions": (
        "import _pytest.python as p\nrun = p.Function.runtest\n"
        "def quiet(self):\n    try: run(self)\n    except BaseException: pass\n"
        "p.Function.runtest = quiet\n"
    ),
    "everything skipped": (
        "import pytest, _pytest.python as p\ndef skip(self): pytest.skip('x')\np.Function.runtest = skip\n"
    ),
    "everything broken": ("import _pytest.python as p\ndef fail(self): raise ValueError\np.Function.runtest = fail\n"),
    "the outcome as a property": (
        "from _pytest.reports import TestReport\n"
        "TestReport.outcome = property(lambda self: 'passed', lambda self, value: None)\n"
    ),
    "a pattern that fits everything": "import re\nre.fullmatch = lambda *how, **more: True\n",
    "texts that hold whatever is wanted": (
        "import json\nclass Any:\n    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\njson.loads = lambda *how, **more: Any()\n"
    ),
    "numbers that are all alike": "import operator\noperator.eq = lambda one, other: True\n",
}


@pytest.mark.parametrize("core", FLIPPING.values(), ids=FLIPPING.keys())
def test_a_patched_pytest_flips_a_sentinel(engine: Engine, image: str, task: Task, core: str) -> None:
    result = grade(engine, image, task, candidate(core + BROKEN))
    assert (result.rejection, result.verdicts) == (Rejection.CANARY_FLIPPED, ())
    assert result.rejection_detail.startswith("group sums: a sentinel that must ")


def test_a_hang_takes_its_own_share_of_the_time_only(engine: Engine, image: str, task: Task) -> None:
    result = grade(engine, image, task, candidate("import time\ndef add(a, b): time.sleep(600)\n"), timeout_s=40)
    assert by_name(result) == {"sums": (False, "the session ended before it was done"), "old": (True, "")}


def test_staged_files_are_out_of_reach_and_a_change_is_seen(engine: Engine, image: str, task: Task) -> None:
    group = next(one for one in task.groups if isinstance(one, PytestGroup))
    staging = stage(task, [group], NONCE)
    top = f"/grade/{staging.top}"

    def listed() -> bytes:
        return sandbox.run(REHASH, stdin=top.encode(), user=ROOT_USER, timeout_s=30, max_output=1 << 20).stdout

    with grader(engine, image, task.before) as sandbox:
        sandbox.put("/grade", pack(staging.tree, uid=0))
        before = listed()
        assert is_intact(staging, before)
        script = (
            f"echo x > {top}/0/helper.py; rm -f {top}/0/helper.py; mkdir {top}/0/new; mv {top} {top}x; chmod 777 {top}"
        )
        sandbox.run(("sh", "-c", script), timeout_s=30, max_output=4096)
        assert listed() == before
        sandbox.run(("sh", "-c", f"echo >> {top}/0/helper.py"), timeout_s=30, max_output=4096, user=ROOT_USER)
        assert not is_intact(staging, listed())
    assert not is_intact(staging, b"")
    assert not is_intact(staging, before.replace(b"helper", b"hel"))


def test_hidden_material_that_changed_rejects(
    engine: Engine, image: str, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    with grader(engine, image, task.before) as sandbox:
        put = sandbox.put

        def put_another(folder: str, archive: bytes) -> None:
            put(folder, archive)
            sandbox.run(
                ("sh", "-c", "for x in /grade/*/0/helper.py; do echo >> $x; done"),
                timeout_s=30,
                max_output=99,
                user=ROOT_USER,
            )

        monkeypatch.setattr(sandbox, "put", put_another)
        result = run_groups(sandbox, task, nonce=NONCE, timeout_s=60, max_output=1 << 20)
    assert (result.rejection, result.staged_intact) == (Rejection.HIDDEN_MATERIAL_CHANGED, False)


def test_every_grading_has_names_and_a_mark_of_its_own(task: Task) -> None:
    groups = [one for one in task.groups if isinstance(one, PytestGroup)]
    one, two = stage(task, groups, "a" * 32), stage(task, groups, "b" * 32)
    for first, second in zip(one.groups, two.groups, strict=True):
        assert not first.sentinels.files.keys() & second.sentinels.files.keys()
        assert len(first.sentinels.must_fail) == 2 * len(first.sentinels.must_pass) == 4 * len(first.sentinels.quiet)
        assert set(first.group.ids) | first.sentinels.must_fail | first.sentinels.must_pass == set(first.order)
        assert b"# " + b"a" * 32 in first.files[first.group.ids[0].split("::")[0]].data
