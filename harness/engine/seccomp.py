"""The engine's own seccomp profile, less the sockets that no namespace holds.

A network namespace holds Internet and netlink sockets, and a mount namespace those with a path. A socket to the machine
below (vsock) is held by neither: where this host is itself a virtual machine, a program in a container without any
network reaches its hypervisor. Engines before Docker 23 and Podman's default allow every family. What the engine made
of its default is read from a container of its own, so that nothing else of it changes.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_never

from harness.engine.client import LABEL, Engine, EngineKind, engine_errors

FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
"""The address families that a program in a container may open; the namespaces hold each of them."""
_SOCKETS = {"socket", "socketcall"}
# socketcall hides its arguments from a filter: a 32-bit program has socket itself since Linux 4.3.
_HOLD = ["sleep", "600"]


def narrowed(profile: Mapping[str, Any]) -> dict[str, Any]:
    """A profile, as the runtime has it, in which only :data:`FAMILIES` can be opened.

    Raises:
        KeyError, TypeError: it is no profile.
        ValueError: it allows what it does not name, so that leaving a rule out would take nothing away.
    """
    if "ERRNO" not in profile["defaultAction"] and "KILL" not in profile["defaultAction"]:
        raise ValueError(profile["defaultAction"])
    rules = [
        {**rule, "names": [name for name in rule["names"] if name not in _SOCKETS]} for rule in profile["syscalls"]
    ]
    family = [
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": number, "op": "SCMP_CMP_EQ"}]}
        for number in FAMILIES.values()
    ]
    return {**profile, "syscalls": [*(rule for rule in rules if rule["names"]), *family]}


def options(engine: Engine, image: str, labels: Mapping[str, str]) -> list[str]:
    """The engine's security options for a container without capabilities: its default narrowed, or nothing where the
    default can't be read here. It is read once for each connection, from a container of *image* with *labels*.

    Raises:
        InfraError: the engine failed.
    """
    with engine.lock:
        if engine.narrowed is None:
            profile = _default(engine, image, labels)
            engine.narrowed = [] if profile is None else [f"seccomp={_given(engine, json.dumps(profile))}"]
        return engine.narrowed


def _given(engine: Engine, text: str) -> str:
    match engine.info.kind:
        case EngineKind.DOCKER:
            return text
        case EngineKind.PODMAN:  # it takes the path of a file
            folder = engine.kept.enter_context(tempfile.TemporaryDirectory(prefix="trialbox-"))
            path = Path(folder) / "seccomp.json"
            path.write_text(text)
            return str(path)
        case _:
            assert_never(engine.info.kind)


def _default(engine: Engine, image: str, labels: Mapping[str, str]) -> dict[str, Any] | None:
    """The engine's default profile, narrowed; None where it is not shown to us."""
    mark = secrets.token_hex(6)
    with engine_errors("container"):
        made = engine.api.create_container(
            image,
            command=_HOLD[1:],
            entrypoint=_HOLD[:1],
            hostname=mark,
            labels={LABEL: "1", **labels},
            network_disabled=True,
            host_config=engine.api.create_host_config(
                network_mode="none", cap_drop=["ALL"], security_opt=["no-new-privileges"], mem_limit=64 << 20
            ),
        )
        try:
            engine.api.start(made["Id"])
            pid = int(engine.api.inspect_container(made["Id"])["State"]["Pid"])
            return _read(pid, mark) if engine.info.same_kernel else _asked(engine, image, labels, pid, mark)
        finally:
            engine.api.remove_container(made["Id"], force=True)


def _asked(engine: Engine, image: str, labels: Mapping[str, str], pid: int, mark: str) -> dict[str, Any] | None:
    """The same on another machine's kernel: a program of ours reads it there, in the pid namespace of the engine."""
    script = f"p=$(sed -n 's/^PPid:[^0-9]*//p' /proc/{pid}/status); cat /proc/$p/cwd/config.json"
    made = engine.api.create_container(
        image,
        command=["-c", script],
        entrypoint=["sh"],
        user="0:0",
        labels={LABEL: "1", **labels},
        network_disabled=True,
        host_config=engine.api.create_host_config(
            network_mode="none",
            pid_mode="host",
            read_only=True,
            cap_drop=["ALL"],
            cap_add=["SYS_PTRACE", "DAC_READ_SEARCH"],
            security_opt=["no-new-privileges", "apparmor=unconfined"],
            mem_limit=64 << 20,
        ),
    )
    try:
        engine.api.start(made["Id"])
        engine.api.wait(made["Id"], timeout=60)
        return _profile(engine.api.logs(made["Id"], stdout=True, stderr=False).decode("utf-8", "replace"), mark)
    finally:
        engine.api.remove_container(made["Id"], force=True)


def _profile(text: str, mark: str) -> dict[str, Any] | None:
    """What a runtime's configuration of the container named *mark* says."""
    try:
        config = json.loads(text)
        return narrowed(config["linux"]["seccomp"]) if config["hostname"] == mark else None
    except (ValueError, KeyError, TypeError):
        return None


def _read(pid: int, mark: str) -> dict[str, Any] | None:
    """The profile in the runtime's own configuration of a container, found by the process that watches it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        parent = int(next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1])
        arguments = Path(f"/proc/{parent}/cmdline").read_bytes().decode("utf-8", "surrogateescape").split("\0")
        folders = [f"/proc/{parent}/cwd", *(f"/proc/{parent}/root{one}" for one in arguments if one.startswith("/"))]
        for folder in folders:
            file = Path(folder) / "config.json"
            if file.is_file() and (found := _profile(file.read_text(), mark)) is not None:
                return found
    except (OSError, ValueError, StopIteration):
        return None
    return None
