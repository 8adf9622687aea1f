"""A small task with tight limits, and whole attempts on it in real containers."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.attempt import Job, Tools, run_attempt
from harness.cores import Cores
from harness.digest import sha256_bytes
from harness.energy import EnergyRequest, open_session
from harness.energy.choose import MeterChoice
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.hooks import Hook, no_hooks
from harness.ledger import Ledger
from harness.records import Cell, ExecutionMode, Limits, TaskRef
from harness.solvers.manifest import DriverKind, Manifest, Solver
from harness.store import LocalStore
from harness.suites.task import Candidate, Task
from tests.oracle_rig import make_task, tree

LIMITS = Limits(
    wall_s=20,
    grade_wall_s=10,
    memory_mb=256,
    cpus=1,
    pids=64,
    workspace_mb=48,
    workspace_inodes=4000,
    home_mb=8,
    home_inodes=500,
    tmp_mb=8,
    output_kb=64,
)
SECRET = "the-expected-value-4711-of-the-hidden-group"
GOOD = (
    'def greet(name):\n    return "the-expected-value-4711-of-the-hidden-group" if name == "host" else name.title()\n'
)
BAD = "def greet(name):\n    return name\n"


def small_task(limits: Limits = LIMITS) -> Task:
    """One function in a package: a behaviour group fails on the base, a regression group passes."""
    task = make_task(
        tree({"pkg/__init__.py": "", "pkg/words.py": BAD, "README.md": "words\n"}),
        [
            {"name": "titles", "kind": "behaviour", "oracle": "cases", "file": "hidden/titles.json"},
            {"name": "plain", "kind": "regression", "oracle": "cases", "file": "hidden/plain.json"},
        ],
        {
            "titles.json": {
                "target": "pkg.words:greet",
                "cases": [{"args": ["ann lee"], "expect": "Ann Lee"}, {"args": ["host"], "expect": SECRET}],
            },
            "plain.json": {"target": "pkg.words:greet", "cases": [{"args": ["Bo"], "expect": "Bo"}]},
        },
    )
    fix = tree({"pkg/words.py": GOOD})
    reference = Candidate("reference", "", None, fix, (), task.before.overlay(fix))
    spec = task.spec.model_copy(update={"limits": limits})
    return dataclasses.replace(task, reference=reference, spec=spec, prompt="Make greet title-case its argument.\n")


@dataclass
class Rig:
    """Attempts on one engine with one store."""

    tools: Tools
    store: LocalStore

    def attempt(self, argv: str | tuple[str, ...], *, task: Task | None = None, **manifest: Any) -> AttemptRecord:
        """Run one attempt of a command solver: a shell script, or words."""
        words = ("sh", "-c", textwrap.dedent(argv)) if isinstance(argv, str) else argv
        return self.run(Manifest(name="probe", driver=DriverKind.COMMAND, argv=words, **manifest), task=task)

    def run(self, manifest: Manifest, *, task: Task | None = None, bundle: Path | None = None) -> AttemptRecord:
        """Run one attempt of any solver."""
        task = task or small_task()
        ref = TaskRef(
            suite="rig",
            suite_version="1.0.0",
            task="small",
            score_hash=sha256_bytes(repr(sorted(task.spec.model_dump(mode="json").items())).encode()),
            authoring_hash=sha256_bytes(b""),
        )
        return run_attempt(
            Job(
                plan=sha256_bytes(b"plan"),
                cell=Cell(solver=manifest.name, task="small", attempt=1),
                attempt_try=1,
                task=task,
                ref=ref,
                solver=Solver(manifest=manifest, bundle=bundle),
                mode=ExecutionMode.SEALED,
                concurrency=1,
            ),
            self.tools,
        )

    def text(self, blob: Any) -> str:
        """A blob as text."""
        return self.store.get(blob.digest).decode("utf-8", "replace")


def make_rig(
    engine: Engine,
    images: Mapping[str, BuiltImage],
    folder: Path,
    owner: str,
    hooks: Callable[[Cell], Sequence[Hook]] = no_hooks,
) -> Rig:
    """A rig in a folder of its own, with the estimator as its meter and no scanner."""
    store = LocalStore(folder / "blobs")
    ledger = Ledger(folder / "ledger.db")
    energy = open_session(EnergyRequest(choice=MeterChoice.ESTIMATOR), folder / "idle")
    tools = Tools(
        engine=engine,
        store=store,
        cache=ledger,
        images=images,
        energy=energy,
        cores=Cores(range(engine.info.cpus)),
        owner=owner,
        hooks=hooks,
    )
    return Rig(tools, store)
