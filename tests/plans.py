"""Plans and record references for tests that need no real ones."""

from __future__ import annotations

from harness.digest import sha256_bytes
from harness.records import BlobRef, Plan, RunMode, SolverRef, SuiteRef, TaskRef

ZERO = sha256_bytes(b"")


def plan(solvers: int = 2, tasks: int = 2, attempts: int = 2) -> Plan:
    return Plan(
        suite=SuiteRef(name="s", version="1.0.0", hash=ZERO),
        partial=False,
        tasks=tuple(
            TaskRef(suite="s", suite_version="1.0.0", task=f"t{n}", score_hash=ZERO, authoring_hash=ZERO)
            for n in range(tasks)
        ),
        solvers=tuple(SolverRef(name=f"a{n}", kind="builtin", manifest=ZERO) for n in range(solvers)),
        attempts=attempts,
        mode=RunMode.DRY,
        provider="none",
        formula=ZERO,
        images=(),
    )


def record(text: str) -> BlobRef:
    return BlobRef(digest=sha256_bytes(text.encode()), size=len(text), media_type="application/json")
