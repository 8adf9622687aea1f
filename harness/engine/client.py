"""A connected engine: the SDK's low-level client, what it said of itself, and its errors in our terms."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from threading import Lock
from typing import Any

import docker
import requests.exceptions
import urllib3.exceptions
from docker.errors import APIError, DockerException

from harness.engine.runtime import runtime_version
from harness.errors import GO_ON, EngineGone, InfraError
from harness.records import Record

LABEL = "trialbox"
"""The label on every container, volume and image that the product makes."""


class EngineKind(StrEnum):
    """Who answers the socket."""

    DOCKER = "docker"
    PODMAN = "podman"


class EngineInfo(Record):
    """What the engine says of itself; part of the card's host section."""

    kind: EngineKind
    version: str
    api_version: str
    address: str
    os: str
    kernel: str
    architecture: str
    cgroup_version: str
    cgroup_driver: str
    storage_driver: str
    security: tuple[str, ...]
    runtime: str
    """The program that starts the containers, and its version; ``unknown`` where the engine names none."""
    runtime_version: str
    cpus: int
    memory_bytes: int
    root_dir: str
    same_kernel: bool
    """Whether the engine's containers run on this host's kernel, so that their cgroups can be read here."""


class Engine:
    """One connection to a Docker-compatible engine. Safe to share between threads."""

    def __init__(self, api: docker.APIClient) -> None:
        self.api = api
        self.lock = Lock()
        """For what is asked of it once."""
        self.narrowed: list[str] | None = None
        """Its security options, once asked for (``seccomp.py``)."""
        self.kept = ExitStack()
        """What goes with the connection."""
        with engine_errors("engine"):
            self.info = describe(api)

    def close(self) -> None:
        """Release the connection; never fails."""
        self.kept.close()
        self.api.close()


@contextmanager
def engine_errors(where: str) -> Iterator[None]:
    """Turn the SDK's and the socket's errors into EngineGone (it went away) or InfraError (it refused)."""
    try:
        yield
    except APIError as error:
        problem = f"the engine answered: {error.explanation or error}"
        raise InfraError(where, problem, "see `trialbox doctor`") from error
    except (
        requests.exceptions.RequestException,
        urllib3.exceptions.HTTPError,
        DockerException,
        ConnectionError,
        TimeoutError,
    ) as error:
        raise EngineGone(
            where,
            f"the container engine stopped answering ({type(error).__name__})",
            f"start it and {GO_ON}",
        ) from error


def describe(api: docker.APIClient) -> EngineInfo:
    """Ask the engine what it is."""
    version: dict[str, Any] = api.version()
    info: dict[str, Any] = api.info()
    components = " ".join(str(part.get("Name", "")) for part in version.get("Components") or ())
    podman = "podman" in components.lower() or "podman" in str(info.get("Name", "")).lower()
    kernel = str(info.get("KernelVersion", "unknown"))
    address = _address(api)
    runtime, number = runtime_version(version.get("Components") or [])
    return EngineInfo(
        kind=EngineKind.PODMAN if podman else EngineKind.DOCKER,
        version=str(version.get("Version", "unknown")),
        api_version=str(version.get("ApiVersion", "unknown")),
        address=address,
        os=str(info.get("OperatingSystem", "unknown")),
        kernel=kernel,
        architecture=str(info.get("Architecture", "unknown")),
        cgroup_version=str(info.get("CgroupVersion") or "1").removeprefix("v"),
        cgroup_driver=str(info.get("CgroupDriver", "unknown")),
        storage_driver=str(info.get("Driver", "unknown")),
        security=tuple(sorted(str(option) for option in info.get("SecurityOptions") or ())),
        runtime=runtime,
        runtime_version=number,
        cpus=int(info.get("NCPU", 0)),
        memory_bytes=int(info.get("MemTotal", 0)),
        root_dir=str(info.get("DockerRootDir", "unknown")),
        same_kernel=sys.platform == "linux" and kernel == os.uname().release and address.startswith("unix:"),
    )


def _address(api: docker.APIClient) -> str:
    """The socket or URL behind the client; the SDK hides a unix socket behind a placeholder URL."""
    adapter = api.adapters.get("http+docker://")
    path = getattr(adapter, "socket_path", None)
    return f"unix:{path}" if path else str(api.base_url)
