"""What one sandbox is: the contract between every stage and the engine.

A stage states a :class:`SandboxSpec`; ``sandbox.py`` is the one place that turns it into engine calls, and ``seal.py``
reads the limits back from the kernel. There is no network but ``none``: a model is reached through the gateway folder,
a bind-mounted directory holding one unix socket.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from harness.records import Record

AGENT_UID = 10001
AGENT_USER = f"{AGENT_UID}:{AGENT_UID}"
ROOT_USER = "0:0"


class Role(StrEnum):
    """What a container is for. It decides nothing but the label."""

    KEEPER = "keeper"
    SOLVER = "solver"
    GRADER = "grader"
    SCANNER = "scanner"
    PREPARE = "prepare"
    PROBE = "probe"


class VolumeMount(Record):
    """A size- and inode-capped tmpfs volume. It lives as long as one container that mounts it runs.

    ``size_mb`` and ``inodes`` are hard caps (ENOSPC past them); both count against the writer's memory limit.
    """

    volume: str
    target: str
    size_mb: Annotated[int, Field(ge=1)]
    inodes: Annotated[int, Field(ge=16)]
    uid: int = AGENT_UID
    mode: str = "0755"
    read_only: bool = False
    no_copy: bool = False
    """Whether the engine must not fill it with what the image has at its target: it would while a keeper holds it."""

    def at(self, target: str) -> VolumeMount:
        """The same volume at a place where the image may have files."""
        return self.model_copy(update={"target": target, "no_copy": True})


class BindMount(Record):
    """A host folder, read-only unless said otherwise: agent bundles and the gateway's socket folder."""

    source: str
    target: str
    read_only: bool = True


class SandboxSpec(Record):
    """One container. Everything not stated is the tightest setting: no capability, no network, read-only root."""

    role: Role
    image: str
    """The engine's handle of an image that was checked against our own id when it was loaded."""
    user: str = AGENT_USER
    volumes: tuple[VolumeMount, ...] = ()
    binds: tuple[BindMount, ...] = ()
    tmp_mb: Annotated[int, Field(ge=1)] = 64
    memory_mb: Annotated[int, Field(ge=64)] = 512
    pids: Annotated[int, Field(ge=8, le=512)] = 128
    cpuset: str = ""
    """Core ids such as ``0`` or ``0,2``; empty leaves the container unpinned (harness-owned containers only)."""
    cap_add: tuple[str, ...] = ()
    """Capabilities of a container that runs none but the harness's own code; a solver or grader gets none."""
    workdir: str = "/workspace"
    env: tuple[tuple[str, str], ...] = ()
