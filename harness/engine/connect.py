"""Finding an engine: the user's Docker settings, then Podman, then a private daemon of our own."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import requests.exceptions
from docker.errors import DockerException, InvalidVersion
from docker.tls import TLSConfig
from docker.utils import parse_host, version_lt

from harness.engine.addresses import Address, Surroundings, addresses, one_line
from harness.engine.client import Engine
from harness.engine.debian import install_docker, installed
from harness.errors import InfraError, UserError

OLDEST_API = "1.41"
"""Docker 20.10's API, which Podman's socket speaks as well."""

CALL_TIMEOUT_S = 180
"""How long one call may go without an answer; a removal on a loaded host takes tens of seconds."""
CONNECTIONS = 256
"""Idle connections that are kept open; more may be in use at once."""

_PROBE_TIMEOUT_S = 20


def _silent(_: str) -> None:
    """The default listener."""


@contextmanager
def connect(
    *,
    start: bool = True,
    keep: bool | None = None,
    notify: Callable[[str], None] = _silent,
    surroundings: Surroundings | None = None,
) -> Iterator[Engine]:
    """A connected engine for the length of the block.

    Args:
        start: whether to install and start a private daemon where nothing answers; without it, one that already runs
            is still used.
        keep: leave a private daemon running at the end; by default what ``TRIALBOX_KEEP_ENGINE`` says.
        notify: told in one line about anything slow.
        surroundings: where to look; by default this process's environment.

    Raises:
        UserError: DOCKER_HOST, a context or its certificates are malformed.
        InfraError: the named engine doesn't answer, or is too old, or there is none; with the command to run.
    """
    here = surroundings or Surroundings()
    engine, dead = find(here)
    if engine is not None:
        with _closing(engine):
            yield engine
        return
    if not (here.can_start and (start or here.daemon.pids())):
        raise _nothing(here, dead)
    if start and not installed("dockerd"):
        install_docker(notify)
        engine, _ = find(
            here
        )  # an init system that isn't systemd may have started Debian's service: then that is the one
        if engine is not None:
            with _closing(engine):
                yield engine
            return
    stay = not start or (here.keep if keep is None else keep)  # who only looks leaves things as they are
    with (
        here.daemon.hold(keep=stay, notify=notify, start=start) as url,
        _closing(open_engine(Address("private engine", url, chosen=True))) as engine,
    ):
        yield engine


def find(here: Surroundings) -> tuple[Engine | None, list[tuple[Address, OSError]]]:
    """The first engine that answers, or the sockets that are there and refused.

    Raises:
        UserError, InfraError: as in connect().
    """
    dead: list[tuple[Address, OSError]] = []
    for address in addresses(here):
        if not address.chosen and address.socket is not None:
            refusal = knock(address.socket)
            if isinstance(refusal, FileNotFoundError | NotADirectoryError):
                continue
            if refusal is not None:
                dead.append((address, refusal))
                continue
        return open_engine(address), dead
    return None, dead


def knock(path: Path) -> OSError | None:
    """Why nobody can be reached behind a socket file; None if somebody can."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_PROBE_TIMEOUT_S)
        try:
            client.connect(str(path))
        except OSError as error:
            return error
    return None


def open_engine(address: Address) -> Engine:
    """Connect to one address.

    Raises:
        UserError: it is malformed.
        InfraError: nobody answers there, or the engine is older than Docker 20.10.
    """
    if address.socket is not None:
        refusal = knock(address.socket)
        if isinstance(refusal, PermissionError):
            raise _denied(address.socket)
        if refusal is not None:
            raise _unreachable(address, refusal.strerror or type(refusal).__name__)
    elif address.url.startswith("ssh:"):
        raise UserError(
            address.origin,
            "an engine behind ssh can't be used directly",
            "forward its socket: `ssh -nNTL /tmp/docker.sock:/var/run/docker.sock HOST`, "
            "then DOCKER_HOST=unix:///tmp/docker.sock",
        )
    tls: TLSConfig | bool = address.tls or False
    try:
        parse_host(address.url, tls=bool(tls))
    except DockerException as error:
        raise UserError(
            address.origin, f"malformed address {address.url!r}", "use unix:///PATH or tcp://HOST:PORT"
        ) from error
    try:
        api = docker.APIClient(address.url, tls=tls, timeout=_PROBE_TIMEOUT_S, max_pool_size=CONNECTIONS)
    except InvalidVersion as error:
        raise InfraError(address.origin, "this engine is too old", "upgrade to Docker 20.10 or newer") from error
    except (DockerException, requests.exceptions.RequestException) as error:
        raise _unreachable(address, _innermost(error)) from error
    if version_lt(api.api_version, OLDEST_API):
        spoken = api.api_version
        api.close()
        raise InfraError(
            address.origin,
            f"this engine speaks API {spoken}, older than {OLDEST_API}",
            "upgrade to Docker 20.10 or newer",
        )
    api.timeout = CALL_TIMEOUT_S
    return Engine(api)


# ----------------------------------------------------------------------------------------------------- what went wrong


def _denied(path: Path) -> InfraError:
    return InfraError(
        str(path),
        "you may not use this engine's socket",
        'run `sudo usermod -aG docker "$USER"` and log in again, or run this command as root',
    )


def _unreachable(address: Address, reason: str) -> InfraError:
    remedy = {
        "DOCKER_HOST": "start that engine, or `unset DOCKER_HOST` to look elsewhere",
        "CONTAINER_HOST": "start that engine, or `unset CONTAINER_HOST` to look elsewhere",
    }.get(address.origin, "start that engine (`systemctl start docker`, or open Docker Desktop)")
    if address.origin.startswith("Docker context"):
        remedy = "start that engine, or choose another with `docker context use`"
    return InfraError(address.origin, f"no engine answers at {address.url} ({reason})", remedy)


def _nothing(here: Surroundings, dead: list[tuple[Address, OSError]]) -> InfraError:
    """The one message of a machine without an engine: what to type on this platform."""
    for address, refusal in dead:
        if isinstance(refusal, PermissionError) and address.socket is not None:
            return _denied(address.socket)
    if here.platform == "darwin":
        remedy = "open Docker Desktop, or `brew install colima docker && colima start`"
    elif here.root and here.confined:
        remedy = "mount the host's /var/run/docker.sock into this container, or run it with --privileged"
    elif here.can_start:
        remedy = "`trialbox run` starts its own"
    elif dead:
        return _unreachable(dead[0][0], dead[0][1].strerror or type(dead[0][1]).__name__)
    elif "debian" in here.distributions:
        remedy = (
            'run as root, or `sudo apt-get install -y docker.io && sudo usermod -aG docker "$USER"` and log in again'
        )
    elif "fedora" in here.distributions:
        remedy = (
            "`sudo dnf install -y moby-engine && sudo systemctl enable --now docker "
            '&& sudo usermod -aG docker "$USER"` and log in again'
        )
    else:
        remedy = "install and start Docker 20.10 or newer, or Podman 4.3 or newer, or set DOCKER_HOST"
    return InfraError("engine", "no container engine answers", remedy)


def _innermost(error: BaseException) -> str:
    """The cause at the bottom of the SDK's nested errors, in a few words."""
    while error.__context__ is not None:
        error = error.__context__
    return (error.strerror if isinstance(error, OSError) and error.strerror else None) or one_line(error)


@contextmanager
def _closing(engine: Engine) -> Iterator[Engine]:
    try:
        yield engine
    finally:
        engine.close()
