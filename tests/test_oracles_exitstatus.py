"""Plain joule-bench tasks: a test command in the workspace, judged by its exit status and trusted least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.digest import loads
from harness.engine.client import Engine
from harness.suites.groups import GroupKind, Trust
from tests.oracle_rig import by_name, grade, make_joule_task, tree

pytestmark = pytest.mark.engine

FILES = {"m.py": "def f(): return 1\n", "test_m.py": "import m\ndef test_f(): assert m.f() == 1\n"}


@pytest.fixture(scope="module")
def image(images: Mapping[str, Any]) -> str:
    return str(images["python"].handle)


@pytest.mark.parametrize("command", ["python3 -m pytest -q && echo fine", ("python3", "-m", "pytest", "-q")])
def test_the_command_runs_in_the_workspace(engine: Engine, image: str, command: str | tuple[str, ...]) -> None:
    task = make_joule_task(tree(FILES), command, ("test_m.py",))
    result = grade(engine, image, task, task.before)
    (verdict,) = result.verdicts
    assert (verdict.name, verdict.passed, verdict.detail) == ("tests", True, "")
    assert (verdict.kind, verdict.trust, verdict.checks) == (GroupKind.BEHAVIOUR, Trust.EXIT_STATUS, 1)
    wrong = grade(engine, image, task, tree({**FILES, "m.py": "def f(): return 2\n"}))
    assert by_name(wrong) == {"tests": (False, "the test command ended with exit status 1")}


def test_a_hang_a_flood_and_a_missing_program_fail(engine: Engine, image: str) -> None:
    hang = make_joule_task(tree(FILES), "sleep 600", ("test_m.py",))
    assert by_name(grade(engine, image, hang, hang.before, timeout_s=5)) == {
        "tests": (False, "the test command was still running at the limit")
    }
    flood = make_joule_task(tree(FILES), "head -c 300000000 /dev/zero", ("test_m.py",))
    result = grade(engine, image, flood, flood.before)
    assert result.verdicts[0].passed
    assert len(result.observations) < 100_000
    assert loads(result.observations)["exit_status"]["dropped"] > 290_000_000
    missing = make_joule_task(tree(FILES), ("no-such-program",), ("test_m.py",))
    assert not grade(engine, image, missing, missing.before).verdicts[0].passed
