"""The same containers with the same commands and nothing else: what an attempt costs at least, by the bare SDK.

A real attempt is recorded (volumes, containers, execs with their input), then its calls are made again, in order, with
no check, no record and no bracket.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import docker

from harness.engine import exec as engine_exec
from harness.engine import sandbox as engine_sandbox


@dataclass
class Step:
    """One engine call: ``kind`` is volume, unvolume, create, exec or remove."""

    kind: str
    name: str
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    stdin: bytes = b""


class Recorder(docker.APIClient):
    """The SDK's client, noting the calls that make and end things."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.steps: list[Step] = []

    def create_volume(self, name: str, **options: Any) -> Any:
        self.steps.append(Step("volume", name, options=options))
        return super().create_volume(name, **options)

    def remove_volume(self, name: str, force: bool = False) -> Any:
        self.steps.append(Step("unvolume", name))
        return super().remove_volume(name, force=force)

    def create_container(self, image: str, *args: Any, **options: Any) -> Any:
        made = super().create_container(image, *args, **options)
        self.steps.append(Step("create", made["Id"], (image, *args), options))
        return made

    def remove_container(self, container: str, *args: Any, **options: Any) -> Any:
        self.steps.append(Step("remove", container))
        return super().remove_container(container, *args, **options)


@contextmanager
def recording(api: Recorder) -> Iterator[list[Step]]:
    """Record until the block ends. Execs are noted where their input is known: at the sandbox's call."""
    api.steps = []
    real = engine_exec.run

    def noted(engine: Any, container: str, argv: Any, **options: Any) -> Any:
        step = {
            "cmd": list(argv),
            "user": options["user"],
            "workdir": options["workdir"],
            "environment": options["env"],
        }
        api.steps.append(Step("exec", container, options=step, stdin=options.get("stdin", b"")))
        return real(engine, container, argv, **options)

    engine_sandbox.exec.run = noted
    try:
        yield api.steps
    finally:
        engine_sandbox.exec.run = real


def replay(api: docker.APIClient, steps: list[Step]) -> None:
    """Make the recorded calls again, under fresh names."""
    names: dict[str, str] = {}
    for step in steps:
        match step.kind:
            case "volume":
                names[step.name] = "tb-" + secrets.token_hex(8)
                docker.APIClient.create_volume(api, names[step.name], **step.options)
            case "unvolume":
                docker.APIClient.remove_volume(api, names[step.name], force=True)
            case "create":
                options = {**step.options, "name": "tb-" + secrets.token_hex(8)}
                options["host_config"] = {
                    **options["host_config"],
                    "Mounts": [
                        {**mount, "Source": names.get(mount["Source"], mount["Source"])}
                        for mount in options["host_config"]["Mounts"]
                    ],
                }
                made = docker.APIClient.create_container(api, *step.args, **options)
                names[step.name] = made["Id"]
                api.start(made["Id"])
            case "exec":
                _exec(api, names[step.name], step)
            case "remove":
                docker.APIClient.remove_container(api, names[step.name], force=True)
            case _:
                raise ValueError(step.kind)


def _exec(api: docker.APIClient, container: str, step: Step) -> None:
    made = api.exec_create(container, stdin=bool(step.stdin), **step.options)
    if not step.stdin:
        api.exec_start(made["Id"])
        return
    holder = api.exec_start(made["Id"], socket=True)
    raw = holder._sock
    raw.settimeout(60)
    raw.sendall(step.stdin)
    raw.shutdown(socket.SHUT_WR)
    while raw.recv(1 << 18):
        pass
    holder._response.close()
    holder.close()
