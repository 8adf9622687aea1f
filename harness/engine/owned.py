"""What is made at the engine under our labels, and its removal: names, volumes, and what a killed run left behind."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import assert_never

import requests.exceptions
from docker.errors import APIError, NotFound

from harness.engine.client import LABEL, Engine, EngineKind, engine_errors
from harness.engine.spec import VolumeMount

STATE_LABEL = "trialbox.state"
"""Whose leftover it is: the digest of the state folder that the run belongs to."""
ROLE_LABEL = "trialbox.role"

_STUCK_S = 60.0
"""How long a removal that the engine refuses or does not answer is tried again."""
_GONE_S = 3.0
"""The same for an engine that no longer listens."""
_HELD_S = 10.0
"""How long a volume may be held by a container that is being removed."""


def opaque_name() -> str:
    """A random name; nothing inside a container can tell the task, the solver or the run."""
    return "tb-" + secrets.token_hex(8)


class Volumes:
    """Capped tmpfs volumes, created together and removed together."""

    def __init__(self, engine: Engine, owner: str, mounts: Sequence[VolumeMount]) -> None:
        self._engine = engine
        self._names: list[str] = []
        try:
            for mount in mounts:
                options = (
                    f"{_size(engine, mount.size_mb)},nr_inodes={mount.inodes},uid={mount.uid},gid={mount.uid},"
                    f"mode={mount.mode},nosuid,nodev"
                )
                with engine_errors("volume"):
                    engine.api.create_volume(
                        mount.volume,
                        driver="local",
                        driver_opts={"type": "tmpfs", "device": "tmpfs", "o": options},
                        labels={LABEL: "1", STATE_LABEL: owner},
                    )
                self._names.append(mount.volume)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove them; their containers must be gone, but for one whose creation was interrupted unanswered."""
        for name in self._names:
            with engine_errors("volume"):
                remove_volume(self._engine, name)
        self._names.clear()


def _size(engine: Engine, size_mb: int) -> str:
    """Podman 4 takes the word ``size`` for a disk quota, even on a tmpfs; the kernel has another word for the same.

    Blocks are pages of 4 KB; where they are not, the seal's reading of the size refuses the container.
    """
    match engine.info.kind:
        case EngineKind.DOCKER:
            return f"size={size_mb}m"
        case EngineKind.PODMAN:
            return f"nr_blocks={size_mb * 256}"
        case _:
            assert_never(engine.info.kind)


def remove(engine: Engine, container: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Remove a container, also one that somebody else (a killed run's request) is removing already."""
    began = time.monotonic()
    while True:
        try:
            engine.api.remove_container(container, force=True, v=False)
            return
        except NotFound:
            return
        except (APIError, requests.exceptions.RequestException) as error:
            gone = isinstance(error, requests.exceptions.ConnectionError)
            if time.monotonic() - began > (_GONE_S if gone else _STUCK_S):
                with engine_errors(f"container {container[:12]}"):
                    raise
            meanwhile()
            time.sleep(0.2)


def reap(engine: Engine, owner: str) -> int:
    """Remove every container and volume that carries *owner*'s label: what a killed run left behind.

    The caller holds the state folder's lock, so nothing of this owner is alive.

    Returns:
        how many things were removed.
    """
    removed = 0
    label = {"label": f"{STATE_LABEL}={owner}"}
    with engine_errors("reaping"):
        for container in engine.api.containers(all=True, filters=label):
            remove(engine, container["Id"])
            removed += 1
        for volume in engine.api.volumes(filters=label)["Volumes"] or ():
            remove_volume(engine, volume["Name"])
            removed += 1
    return removed


def remove_volume(engine: Engine, name: str) -> None:
    """Remove a volume that a container of a dying run may still hold for a moment. One that is gone is fine.

    A request to create a container that was interrupted before its answer came leaves one that nobody knows: whatever
    holds the volume now is that, or on its way out, and goes first.
    """
    began = time.monotonic()
    while True:
        try:
            engine.api.remove_volume(name, force=True)
            return
        except NotFound:
            return
        except APIError:
            if time.monotonic() - began > _HELD_S:
                raise
            for holder in engine.api.containers(all=True, filters={"volume": name, "label": LABEL}):
                remove(engine, holder["Id"])
            time.sleep(0.2)
