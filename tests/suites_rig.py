"""A small valid task and suite on disk, for tests that then break one thing."""

from __future__ import annotations

import json
from pathlib import Path

PUBLIC = "trialbox-public-" + "1" * 32
EXPOSURE = "trialbox-exposure-" + "2" * 32
LOCKS = {"python": "sha256:" + "3" * 64}

TASK_TOML = f"""
schema = 1
format = "repo"
title = "A title"
visible_tests = ["tests/test_a.py"]

[canary]
public = "{PUBLIC}"
exposure = "{EXPOSURE}"

[provenance]
author_kind = "hand"
created = 2026-11-30
licence = "Apache-2.0"
decontaminated = true

[[wrong]]
name = "off-by-two"
why = "adds two"

[[groups]]
name = "adds"
kind = "behaviour"
oracle = "cases"
file = "hidden/adds.json"

[[groups]]
name = "plain"
kind = "regression"
oracle = "pytest"
files = ["hidden/test_plain.py"]
ids = ["test_plain.py::test_zero"]
"""

JOULE_TOML = """
name = "adder"
prompt = "Make the tests pass."
test_cmd = "python3 -m pytest -q tests"
test_files = ["tests/test_a.py"]
"""

SUITE_TOML = """
schema = 1
name = "little"
version = "1.0.0"
description = "For tests."
tasks = ["adder", "plain-adder"]
"""

ADDS = {
    "canary": EXPOSURE,
    "target": "a:add",
    "cases": [{"args": [1, 2], "expect": 3}, {"args": [None], "raises": "TypeError"}],
}


def write(root: Path, files: dict[str, str]) -> None:
    """Write text files under *root*."""
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def write_repo_task(folder: Path) -> Path:
    """A repo task with a cases group and a pytest group."""
    write(
        folder,
        {
            "task.toml": TASK_TOML,
            "issue.md": "Mend add.\n",
            "before/a.py": "def add(x, y):\n    return x - y\n",
            "before/tests/test_a.py": "def test_a():\n    assert True\n",
            "reference/a.py": "def add(x, y):\n    return x + y\n",
            "wrong/off-by-two/a.py": "def add(x, y):\n    return x + y + 2\n",
            "hidden/adds.json": json.dumps(ADDS),
            "hidden/test_plain.py": f"# {EXPOSURE}\ndef test_zero():\n    pass\n",
        },
    )
    return folder


def write_joule_task(folder: Path) -> Path:
    """A plain joule-bench task, with nothing of ours in it."""
    write(
        folder,
        {
            "task.toml": JOULE_TOML,
            "before/a.py": "def add(x, y):\n    return x - y\n",
            "before/tests/test_a.py": "from a import add\ndef test_a():\n    assert add(1, 2) == 3\n",
            "reference/a.py": "def add(x, y):\n    return x + y\n",
        },
    )
    return folder


def write_suite(folder: Path) -> Path:
    """A suite of the two."""
    write(folder, {"suite.toml": SUITE_TOML})
    write_repo_task(folder / "adder")
    write_joule_task(folder / "plain-adder")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
