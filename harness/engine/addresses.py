"""Where an engine may answer: what the user's Docker and Podman settings say, in the order that it is tried."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docker.errors import DockerException
from docker.tls import TLSConfig
from docker.utils import kwargs_from_env

from harness.engine.daemon import PrivateDaemon
from harness.engine.debian import distributions, installed
from harness.errors import UserError

KEEP_VARIABLE = "TRIALBOX_KEEP_ENGINE"

_CAP_SYS_ADMIN = 21


@dataclass(frozen=True)
class Address:
    """One place where an engine may answer, and who named it."""

    origin: str
    url: str
    chosen: bool = False
    """Whether the user named it: then it is this engine or none."""
    tls: TLSConfig | None = None

    @property
    def socket(self) -> Path | None:
        """The file behind a unix address."""
        scheme, _, path = self.url.partition("://")
        return Path(path) if scheme in {"unix", "http+unix"} else None


@dataclass(frozen=True)
class Surroundings:
    """What the search depends on. The defaults are this process's own."""

    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=Path.home)
    platform: str = sys.platform
    root: bool = field(default_factory=lambda: hasattr(os, "geteuid") and os.geteuid() == 0)
    confined: bool = field(default_factory=lambda: _confined(Path("/proc/self/status")))
    """Whether even root may not mount here, as in a container that isn't privileged."""
    distributions: frozenset[str] = field(default_factory=distributions)
    docker_socket: Path = Path("/var/run/docker.sock")
    podman_socket: Path = Path("/run/podman/podman.sock")
    daemon: PrivateDaemon = field(default_factory=PrivateDaemon)

    @property
    def can_start(self) -> bool:
        """Whether a private daemon can be had: a real root on Linux, with dockerd there or installable."""
        able = self.platform == "linux" and self.root and not self.confined
        return able and (installed("dockerd") or "debian" in self.distributions)

    @property
    def keep(self) -> bool:
        """Whether the environment asks for the private daemon to stay."""
        return self.environ.get(KEEP_VARIABLE, "") not in {"", "0"}


def addresses(here: Surroundings) -> Iterator[Address]:
    """Where to look, in order. An address that the user chose comes alone among Docker's, and must answer."""
    runtime = here.environ.get("XDG_RUNTIME_DIR")
    chosen = _docker_host(here) or _docker_context(here)
    if chosen is not None:
        yield chosen
        return
    yield Address("the default socket", f"unix://{here.docker_socket}")
    if runtime:
        yield Address("rootless Docker", f"unix://{runtime}/docker.sock")
    yield Address("Docker Desktop", f"unix://{here.home}/.docker/run/docker.sock")
    yield Address("Docker Desktop", f"unix://{here.home}/.docker/desktop/docker.sock")
    if container_host := here.environ.get("CONTAINER_HOST"):
        yield Address("CONTAINER_HOST", container_host, chosen=True)
    yield Address("Podman", f"unix://{here.podman_socket}")
    if runtime:
        yield Address("rootless Podman", f"unix://{runtime}/podman/podman.sock")


def _docker_host(here: Surroundings) -> Address | None:
    host = here.environ.get("DOCKER_HOST")
    if not host:
        return None
    try:
        settings = kwargs_from_env(environment=dict(here.environ))
    except DockerException as error:
        raise UserError(
            "DOCKER_CERT_PATH", one_line(error), "point it at a folder with ca.pem, cert.pem and key.pem"
        ) from error
    return Address("DOCKER_HOST", host, chosen=True, tls=settings.get("tls"))


def _docker_context(here: Surroundings) -> Address | None:
    """The context that the docker command would use, read from its files (its own reader needs a config.json)."""
    folder = Path(here.environ.get("DOCKER_CONFIG") or here.home / ".docker")
    name = here.environ.get("DOCKER_CONTEXT") or _read_json(folder / "config.json").get("currentContext")
    if not name or name == "default":
        return None
    origin = f"Docker context {name}"
    identity = hashlib.sha256(str(name).encode()).hexdigest()
    metadata = _read_json(folder / "contexts" / "meta" / identity / "meta.json")
    endpoint = (metadata.get("Endpoints") or {}).get("docker") or {}
    if not endpoint.get("Host"):
        raise UserError(
            origin, "is not defined", "see `docker context ls`, or choose with `docker context use default`"
        )
    certificates = folder / "contexts" / "tls" / identity / "docker"
    try:
        tls = _context_tls(certificates, verify=not endpoint.get("SkipTLSVerify", False))
    except DockerException as error:
        raise UserError(origin, one_line(error), f"check {certificates}") from error
    return Address(origin, str(endpoint["Host"]), chosen=True, tls=tls)


def _context_tls(folder: Path, *, verify: bool) -> TLSConfig | None:
    if not folder.is_dir():
        return None
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    return TLSConfig(client_cert=(cert, key), ca_cert=ca if Path(ca).exists() else None, verify=verify)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UserError(str(path), f"can't be read: {one_line(error)}", "repair it, or set DOCKER_HOST") from error
    return value if isinstance(value, dict) else {}


def one_line(error: BaseException) -> str:
    """An error's text, fit for one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


def _confined(status: Path) -> bool:
    """Whether the process lacks CAP_SYS_ADMIN, by its /proc status; False where there is none."""
    try:
        fields = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines() if ":" in line)
    except OSError:
        return False
    return not int(fields.get("CapEff", "0").strip(), 16) >> _CAP_SYS_ADMIN & 1
