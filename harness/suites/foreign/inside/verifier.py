"""Grades one of our tasks inside Harbor's verifier: run as ``python3 /tests/grade.py``, with nothing but its folder.

Expected values have to lie beside it there, so its verdict is worth less than the same groups' are at home. It writes
``/logs/verifier/reward.json``: the passed behaviour groups over all, or 0 if a regression group fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WORKSPACE = "/workspace"
REWARD = Path("/logs/verifier/reward.json")


def same(expected: Any, observed: Any) -> bool:
    """One spelling for each value: 1, true, "1" and 1.0 differ, the order of keys does not matter."""
    return json.dumps(expected, sort_keys=True) == json.dumps(observed, sort_keys=True)


def call_passes(expected: dict[str, Any], said: Any) -> bool:
    """Whether one call gave what was expected."""
    if not isinstance(said, dict):
        return False
    if expected["kind"] == "returned":
        return "returned" in said and same(expected["value"], said["returned"])
    return expected["name"] in (said.get("raised") or ())


def item_passes(expected: Any, answer: dict[str, Any]) -> bool:
    """Whether one case, scenario or command did."""
    if isinstance(expected, list):
        steps = answer.get("steps") or []
        return len(steps) == len(expected) and all(map(call_passes, expected, steps))
    if "kind" in expected:
        return call_passes(expected, answer)
    wrong = expected["stdout"] is not None and answer.get("stdout") != expected["stdout"]
    files = answer.get("files") or {}
    return (
        not wrong
        and answer.get("status") == expected["status"]
        and all(files.get(name) == text for name, text in expected["files"].items())
    )


def host_held(plan: dict[str, Any]) -> dict[str, bool]:
    """Run the driver once for all groups whose inputs and outputs are data."""
    if not plan["names"]:
        return {}
    ran = subprocess.run(
        plan["driver"], input=json.dumps(plan["job"]).encode(), capture_output=True, check=False, cwd="/"
    )
    answers: dict[tuple[int, int], Any] = {}
    for line in ran.stdout.decode("utf-8", "replace").splitlines():
        head, tab, words = line.partition("\t")
        if tab and words:
            group, item, state = json.loads(head)
            answers[group, item] = json.loads(words) if state == "answered" else None
    return {
        name: all(item_passes(one, answers.get((number, item)) or {}) for item, one in enumerate(expected))
        for number, (name, expected) in enumerate(zip(plan["names"], plan["expected"], strict=True))
    }


class Outcomes:
    """Collects which tests passed in all three phases."""

    def __init__(self) -> None:
        self.phases: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note one phase."""
        good = report.outcome == "passed" and not hasattr(report, "wasxfail")
        self.phases.setdefault(report.nodeid, []).append(report.when if good else "failed")


def run_tests(folder: str, ids: list[str], out: str) -> None:
    """In a process of its own: run the files of *ids* with settings of ours, and write down which passed."""
    import pytest

    sys.path.append(WORKSPACE)
    os.chdir(WORKSPACE)
    ini = Path(folder) / "pytest.ini"
    ini.write_text("[pytest]\n")
    outcomes = Outcomes()
    files = sorted({str(Path(folder) / one.split("::")[0]) for one in ids})
    options = [f"--rootdir={folder}", f"--confcutdir={folder}", "-c", str(ini), "-p", "no:cacheprovider", "-q"]
    pytest.main([*options, *files], plugins=[outcomes])
    good = [one for one in ids if outcomes.phases.get(one) == ["setup", "call", "teardown"]]
    Path(out).write_text(json.dumps(good))


def pytest_groups(plan: dict[str, Any]) -> dict[str, bool]:
    """Run each group's hidden tests from a copy of their own."""
    verdicts = {}
    for group in plan["pytest"]:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            for name in group["files"]:
                target = Path(folder) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((HERE / "hidden" / name).read_bytes())
            out = str(Path(other) / "passed.json")
            job = json.dumps([folder, group["ids"], out])
            environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            subprocess.run([sys.executable, __file__, job], capture_output=True, check=False, env=environment)
            good = json.loads(Path(out).read_text()) if Path(out).exists() else []
            verdicts[group["name"]] = sorted(good) == sorted(group["ids"])
    return verdicts


def main() -> None:
    """Restore the visible tests, run every group, write the reward."""
    plan = json.loads((HERE / "plan.json").read_text())
    for name in plan["visible_tests"]:
        Path(WORKSPACE, name).write_bytes((HERE / "visible" / name).read_bytes())
    verdicts = {**host_held(plan), **pytest_groups(plan)}
    for name, argv in plan["commands"].items():
        verdicts[name] = subprocess.run(argv, cwd=WORKSPACE, capture_output=True, check=False).returncode == 0
    behaviour = [verdicts[name] for name in plan["behaviour"]]
    whole = all(verdicts[name] for name in plan["regression"])
    REWARD.parent.mkdir(parents=True, exist_ok=True)
    REWARD.write_text(json.dumps({"reward": sum(behaviour) / len(behaviour) if whole else 0}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_tests(*json.loads(sys.argv[1]))
    else:
        main()
