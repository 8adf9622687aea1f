"""Before a run's first attempt: a throwaway container proves that what runs *in* a container is as sealed as its start.

The seal of every container is read from its first process. Each stage then runs programs inside, which join the
container's namespaces from outside; below an engine whose own root is not the root of its mount namespace they would
land in the host's filesystem, though the first process is sealed. So here the same facts are read once by a program
that was run that way.
"""

from __future__ import annotations

from harness.engine import seal
from harness.engine.client import Engine
from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox, host_has_swap
from harness.engine.spec import Role, SandboxSpec, VolumeMount
from harness.errors import GateError
from harness.workspace import WORKSPACE

_BELOW = (
    "python3",
    "-c",
    "import socket\ntry: socket.socket(40, socket.SOCK_STREAM)\nexcept OSError: pass\nelse: raise SystemExit(1)",
)
"""Opens a socket of the family that no namespace holds; nothing is connected to."""


def preflight(engine: Engine, image: str, owner: str) -> None:
    """Refuse an engine whose containers leak.

    Args:
        engine: the engine.
        image: its handle of our base image.
        owner: the state folder's digest, for the label.

    Raises:
        GateError: something that a program inside sees is not as the spec asks; all of it is named.
        InfraError: the engine failed.
    """
    mounts = (VolumeMount(volume=opaque_name(), target=WORKSPACE, size_mb=1, inodes=64),)
    volumes = Volumes(engine, owner, mounts)
    try:
        spec = SandboxSpec(role=Role.PROBE, image=image, volumes=mounts, memory_mb=64, pids=32)
        with Sandbox(engine, spec, owner) as sandbox:
            answer = sandbox.run(seal.READ_INSIDE, timeout_s=60, max_output=1 << 20, workdir="/")
            below = sandbox.run(_BELOW, timeout_s=60, max_output=1 << 10, workdir="/")
    finally:
        volumes.remove()
    if below.exit_status != 0:
        said = "a program inside a container can open a socket to the machine below it (vsock)"
        raise GateError("isolation", said, "use Docker 23 or newer, or run as root on the engine's own machine")
    if answer.exit_status != 0:
        raise GateError("isolation", "a program inside a container could not be asked", "see `trialbox doctor`")
    seal.check(spec, seal.parse_inside(answer.stdout.decode("utf-8", "replace")), swap_on_host=host_has_swap())
