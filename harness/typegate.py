"""The type gate: ``mypy --strict`` on one file of an answer, in a sealed container of the image that holds mypy.

Mypy reads and never runs what it checks. No configuration of the candidate's takes part, errors count in the one file
alone, and what would switch the check off fails it. The host parses none of it.
"""

from __future__ import annotations

from harness.engine.client import Engine
from harness.engine.sandbox import Sandbox
from harness.engine.spec import Role, SandboxSpec
from harness.oracles.bundle import program
from harness.suites.tree import LINK, Tree
from harness.untrusted import clean_text
from harness.workspace import pack

MAX_TARGET_BYTES = 1 << 20
CHECK_S = 300.0
"""Far above what any check takes, so that no verdict hangs on the host's load."""
_SOURCES = (".py", ".pyi")
_MEMORY_MB = 1024
_TREE = "/tmp/tree"  # noqa: S108 - inside the container
_UNPACK = f"mkdir {_TREE} && exec tar --extract --file=- --no-same-owner --directory={_TREE}"
_MYPY = (
    *("python3", "-I", "-m", "mypy", "--strict", "--config-file=", "--cache-dir=/dev/null", "--follow-imports=silent"),
    *("--no-color-output", "--no-error-summary", "--hide-error-context"),
)
_SILENCED = program("silenced")
_ENV = {"HOME": "/nonexistent", "LANG": "C.UTF-8"}


def check_types(
    engine: Engine, image: str, tree: Tree, target: str, owner: str, *, timeout_s: float = CHECK_S
) -> str | None:
    """What is wrong with the types of *target*, in one line safe to show; None if nothing is.

    Args:
        engine: where mypy runs.
        image: the engine's handle of the image with mypy.
        tree: the answer's tree; hostile.
        target: the file in it that is checked.
        owner: the state folder's digest, for the label.
        timeout_s: what the check may take; it takes two seconds of one core.

    Raises:
        InfraError: the engine failed.
    """
    entry = tree.get(target)
    if entry is None or entry.mode == LINK:
        return f"{target} is no file"
    if len(entry.data) > MAX_TARGET_BYTES:
        return f"{target} has {len(entry.data)} bytes; the check reads {MAX_TARGET_BYTES}"
    sources = Tree(one for one in tree.values() if one.mode != LINK and one.path.endswith(_SOURCES))
    room = (sources.size >> 20) + sources.inodes // 256 + 8
    spec = SandboxSpec(role=Role.GRADER, image=image, tmp_mb=room, memory_mb=_MEMORY_MB + room, workdir="/tmp")  # noqa: S108
    with Sandbox(engine, spec, owner) as sandbox:
        unpacked = sandbox.run(("sh", "-c", _UNPACK), stdin=pack(sources), timeout_s=60, max_output=4096)
        if unpacked.exit_status != 0:
            return f"the {len(sources)} Python files do not fit where they are checked"
        looked = sandbox.run((*_SILENCED, target), timeout_s=CHECK_S, max_output=1 << 16, workdir=_TREE, env=_ENV)
        if looked.exit_status != 0:
            return f"{target} can't be read for what switches the check off"
        if looked.stdout:
            what = clean_text(looked.stdout.decode("utf-8", "replace"), 80)
            return f"{target} holds what switches the check off or hides it: {what}"
        ran = sandbox.run((*_MYPY, target), timeout_s=timeout_s, max_output=1 << 16, workdir=_TREE, env=_ENV)
    if ran.exit_status == 0:
        return None
    if ran.timed_out:
        return f"the check took longer than {timeout_s:.0f} s"
    lines = [line for line in ran.stdout.decode("utf-8", "replace").splitlines() if " error: " in line]
    return clean_text(lines[0]) if lines else f"mypy ended with status {ran.exit_status}"
