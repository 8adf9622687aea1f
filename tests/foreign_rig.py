"""A tiny project of our own, told in every dialect that imports read; and grading of what comes of it."""

from __future__ import annotations

import datetime
import json
import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from harness.ahead import Ahead
from harness.engine.client import LABEL, Engine
from harness.engine.images import BuiltImage
from harness.grade import GradingRoom, grade
from harness.store import LocalStore
from harness.suites.foreign.context import Context
from harness.suites.foreign.environment import Images, pinned, pins_of
from harness.suites.foreign.importing import Kind, Report, import_suite
from harness.suites.load import load_suite
from harness.suites.task import Suite, Task
from harness.suites.tree import REGULAR, Entry, Tree
from harness.workspace import pack
from scoring.functional import functional
from tests.conftest import ROOT, image_cache

TODAY = datetime.date(2026, 11, 30)
KETTLE = 'def boil(degrees):\n    return degrees >= 99\n\n\ndef name():\n    return "kettle"\n'
FIXED = KETTLE.replace("99", "100")
OLD_TESTS = 'from kettle import name\n\n\ndef test_name():\n    assert name() == "kettle"\n'
NEW_TESTS = (
    "import pytest\n\nfrom kettle import boil, name\n\n\n"
    'def test_name():\n    assert name() == "kettle"\n\n\n'
    "def test_boil():\n    assert boil(100) and not boil(99)\n\n\n"
    '@pytest.mark.parametrize("word", ["a b", "c"])\ndef test_words(word):\n    assert word\n\n\n'
    '@pytest.mark.skip(reason="elsewhere")\ndef test_skipped():\n    raise OSError\n\n\n'
    "@pytest.mark.xfail\ndef test_odd():\n    raise OSError\n"
)
UNIT_TESTS = (
    "import unittest\n\nfrom kettle import boil, name\n\n\nclass Kettle(unittest.TestCase):\n"
    '    def test_name(self):\n        self.assertEqual(name(), "kettle")\n\n'
    "    def test_boil(self):\n        self.assertFalse(boil(99))\n"
)
FAIL = ["tests/test_kettle.py::test_boil"]
PASS = [
    "tests/test_kettle.py::test_name",
    "tests/test_kettle.py::test_words[a",  # as published lists have it: cut at the space
    "tests/test_kettle.py::test_skipped",
    "tests/test_kettle.py::test_odd",
]
ID = "acme__kettle-7"


@dataclass(frozen=True)
class Project:
    """A clone with one commit, and the two patches against it."""

    repos: Path
    base: str
    gold: str
    test: str
    unit_test: str


def make_project(folder: Path) -> Project:
    """A project of two files, as ``owner__name`` in a folder of clones."""
    repo = folder / "acme__kettle"
    write(repo, {"kettle/__init__.py": KETTLE, "tests/test_kettle.py": OLD_TESTS, "README.md": "Kettles.\n"})
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Begin")
    return Project(
        folder,
        git(repo, "rev-parse", "HEAD").strip(),
        changed(repo, {"kettle/__init__.py": FIXED}),
        changed(repo, {"tests/test_kettle.py": NEW_TESTS}),
        changed(repo, {"tests/__init__.py": "", "tests/test_unit.py": UNIT_TESTS}),
    )


def changed(repo: Path, files: Mapping[str, str]) -> str:
    """The patch that writes *files*; the clone stays as it was."""
    write(repo, files)
    git(repo, "add", "-A")
    patch = git(repo, "diff", "--cached")
    git(repo, "reset", "-q", "--hard")
    return patch


def git(repo: Path, *words: str) -> str:
    """Run git on a clone of the test's own."""
    command = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@localhost", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(folder: Path, files: Mapping[str, str], *, executable: bool = False) -> Path:
    """Write text files."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        if executable or name.endswith(".sh"):
            place.chmod(0o755)
    return folder


def classic(project: Project, **other: Any) -> dict[str, Any]:
    """A row as SWE-bench Verified publishes it."""
    return {
        "repo": "acme/kettle",
        "instance_id": ID,
        "base_commit": project.base,
        "patch": project.gold,
        "test_patch": project.test,
        "problem_statement": "boil() says yes at 99 degrees; it should at 100.\n",
        "hints_text": "Look at boil().",
        "created_at": "2024-05-01T10:00:00Z",
        "version": "1.0",
        "FAIL_TO_PASS": json.dumps(FAIL),
        "PASS_TO_PASS": json.dumps(PASS),
        "environment_setup_commit": project.base,
        "difficulty": "<15 min fix",
        **other,
    }


@dataclass(frozen=True)
class Rig:
    """Imports and gradings on one engine."""

    engine: Engine
    images: Mapping[str, BuiltImage]
    owner: str

    def context(self, **options: Any) -> Context:
        """What an import may use."""
        where = Images(self.engine, image_cache(), ROOT / "images", self.owner, lambda _: None)
        return Context(where, TODAY, **options)

    def bring(
        self, kind: Kind, source: Path, output: Path, *, keep_going: bool = False, **options: Any
    ) -> tuple[Report, Suite]:
        """Import, and load what came of it."""
        report = import_suite(
            kind, source, output, self.context(**options), keep_going=keep_going, report=lambda _: None
        )
        return report, load_suite(output)

    def image(self, task: Task) -> str:
        """The handle of a task's image."""
        pins = pins_of([_alone(task)])
        if task.image in pins:
            return pinned(self.engine, task.image, pins[task.image]).handle
        return self.images[task.image].handle

    def score(self, task: Task, tree: Tree | None, folder: Path) -> Fraction | str:
        """F of a tree, in a real container; the rejection's name if it is rejected."""
        with Ahead(lambda: GradingRoom(self.engine, self.image(task), task, "0", self.owner)) as room:
            record = grade(room, LocalStore(folder / "blobs"), task, tree if tree is not None else task.before)
        if record.rejection is not None:
            return record.rejection.value
        return functional(record.verdicts).fraction or Fraction(0)

    def scores(self, task: Task, folder: Path) -> tuple[Fraction | str, Fraction | str]:
        """F of the known-good fix and of no change at all."""
        return self.score(task, task.reference.tree, folder), self.score(task, None, folder)


def _alone(task: Task) -> Suite:
    return Suite(None, task.folder, (task,))  # type: ignore[arg-type]


def save_rows(path: Path, *rows: Mapping[str, Any]) -> Path:
    """Rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


HARBOR_TOML = """\
schema_version = "1.4"

[task]
name = "acme/kettle"

[agent]
timeout_sec = 120.0
network_mode = "no-network"

[verifier]
timeout_sec = 90.0
environment_mode = "separate"

[environment]
cpus = 1
memory_mb = 700
network_mode = "no-network"
"""
VERIFY = """\
#!/bin/bash
if python -m pytest -q -p no:cacheprovider /tests/test_kettle.py; then
  echo '{"reward": 1.0}' > /logs/verifier/reward.json
else
  echo 0 > /logs/verifier/reward.txt
fi
"""
SOLVE = "#!/bin/bash\nset -e\npython --version\nsed -i 's/99/100/' kettle/__init__.py\n"
HIDDEN_TESTS = NEW_TESTS.replace("import pytest\n", "import sys\n\nimport pytest\n\nsys.path.insert(0, '.')\n")


def harbor_task(folder: Path, base: str, toml: str = HARBOR_TOML) -> Path:
    """A Harbor task folder whose image stands on *base*."""
    return write(
        folder,
        {
            "task.toml": toml,
            "instruction.md": "Make boil() right.\n",
            "environment/Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY app/ /app/\n",
            "environment/app/kettle/__init__.py": KETTLE,
            "tests/test.sh": VERIFY,
            "tests/test_kettle.py": HIDDEN_TESTS,
            "solution/solve.sh": SOLVE,
        },
    )


def terminal_task(folder: Path, base: str) -> Path:
    """A Terminal-Bench 1 task folder."""
    return write(
        folder,
        {
            "task.yaml": (
                "instruction: |-\n  Make boil() right.\nauthor_name: a\ndifficulty: easy\nparser_name: pytest\n"
                "max_agent_timeout_sec: 360.0\nmax_test_timeout_sec: 60.0\nrun_tests_in_same_shell: false\n"
            ),
            "Dockerfile": f"FROM {base}\nWORKDIR /app\nCOPY app /app\n",
            "docker-compose.yaml": "services: {}\n",
            "app/kettle/__init__.py": KETTLE,
            "run-tests.sh": "#!/bin/bash\npython -m pytest -p no:cacheprovider -rA $TEST_DIR/test_kettle.py\n",
            "tests/test_kettle.py": HIDDEN_TESTS.split("@pytest.mark.skip", 1)[0],
            "solution.sh": SOLVE,
        },
    )


def vulcan_task(folder: Path, project: Project, metadata: Mapping[str, Any] | None = None) -> Path:
    """A VulcanBench task folder."""
    told = metadata or {
        "id": "legacy-kettle",
        "source": "hand-authored",
        "decontaminated": True,
        "tests": {
            "fail_to_pass": [{"name": "boil", "cmd": "python3 -m pytest -q tests/hidden/test_kettle.py -k boil"}],
            "pass_to_pass": [{"name": "name", "cmd": "python3 -m pytest -q tests/hidden/test_kettle.py -k name"}],
        },
    }
    return write(
        folder,
        {
            "metadata.json": json.dumps(told),
            "issue.md": "boil() is wrong.\n",
            "repo/kettle/__init__.py": KETTLE,
            "tests/tests/hidden/test_kettle.py": HIDDEN_TESTS,
            "gold_patch.diff": project.gold,
        },
    )


@contextmanager
def image_with(engine: Engine, base: str, folder: str, files: Mapping[str, str]) -> Iterator[str]:
    """An image of this engine's that no lock of ours makes: *base* with files in a folder; gone afterwards."""
    tree = Tree(Entry(path, REGULAR, text.encode()) for path, text in files.items())
    prefix = folder.strip("/") + "/"
    root = Tree(Entry(prefix + path, one.mode, one.data) for path, one in tree.items())
    made = engine.api.create_container(base, command=["true"], labels={LABEL: "1"})["Id"]
    name = f"acme-test/kettle-{secrets.token_hex(4)}:latest"
    try:
        engine.api.put_archive(made, "/", pack(root, uid=0))
        engine.api.commit(made, repository=name.partition(":")[0], tag="latest", changes=f"LABEL {LABEL}=1")
    finally:
        engine.api.remove_container(made, force=True)
    try:
        yield name
    finally:
        engine.api.remove_image(name)
