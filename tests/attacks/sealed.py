"""A container's facts as the kernel would give them, held to what was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.engine.seal import MountFact, check
from harness.engine.spec import Role, SandboxSpec
from harness.errors import GateError
from tests.attacks.pair import Pure
from tests.card_rig import SEAL

SPEC = SandboxSpec(role=Role.SOLVER, image="image", pids=256, memory_mb=1024, cpuset="0")
ROOT = MountFact(target="/", fstype="overlay", options=("ro",))


def checked(**changes: Any) -> Pure:
    def work(_: Path) -> list[str]:
        try:
            check(SPEC, SEAL.model_copy(update={"mounts": (ROOT,), **changes}), swap_on_host=True)
        except GateError as error:
            return [f"run refused: {error.problem}"]
        return ["clean"]

    return Pure(work)
