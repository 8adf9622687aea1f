"""Before a run with a gateway: from a container like the solvers', the gateway answers and nothing else does.

The container's interfaces and routes are read first, by the seal on its start and by a program inside; with anything
but the loopback among them the run is refused and nothing was sent. Only where no route exists are the outward tries
made, which the kernel then ends by itself.
"""

from __future__ import annotations

import json
from typing import Any

from harness.engine.client import Engine, engine_errors
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec
from harness.errors import GateError, InfraError
from harness.gateway.access import Access, Auth, Upstream
from harness.gateway.calls import AnyGateway
from harness.gateway.hook import BASE_URL, INSIDE, INSIDE_FOLDER, LAUNCH
from harness.gateway.records import Api
from harness.records import Record

Target = tuple[str, str, str, int]
_ELSEWHERE = "198.51.100.1"
"""Set aside for documentation: nobody's."""
TARGETS: tuple[Target, ...] = (
    ("direct_ip", "tcp", _ELSEWHERE, 443),
    ("forged_sni", "tls", _ELSEWHERE, 443),
    ("plain_http", "http", _ELSEWHERE, 80),
    ("udp", "udp", _ELSEWHERE, 443),
    ("ipv6", "tcp", "2001:db8::1", 443),
    ("metadata", "http", "169.254.169.254", 80),
    ("dns_a", "dns A", _ELSEWHERE, 53),
    ("dns_txt", "dns TXT", _ELSEWHERE, 53),
    ("resolver_a", "dns A", "127.0.0.1", 53),
    ("resolver_txt", "dns TXT", "127.0.0.1", 53),
    ("name", "name", "example.com", 443),
)
_PROBE = f"{INSIDE_FOLDER}/probe.py"
_ASK = f"""
import os, urllib.request
asked = urllib.request.Request("{BASE_URL}/v1/models", headers={{"x-api-key": os.environ["TOKEN"]}})
print(urllib.request.urlopen(asked, timeout=20).status)
"""
_NOBODY = Upstream(name="preflight", url="http://127.0.0.1:9", auth={Api.CHAT: Auth.NONE})
_REMEDY = "use an engine whose containers have no network when told so, and join none of them to one"


class Reached(Record):
    """What the tries came to: ``results`` has each try's name and why it got nowhere."""

    results: dict[str, str]


def prove_reach(engine: Engine, image: str, owner: str, gateway: AnyGateway) -> Reached:
    """Refuse an engine whose containers reach more than their gateway, or not even that.

    Args:
        engine: the engine.
        image: its handle of an image with Python, our base.
        owner: the state folder's digest, for the label.
        gateway: the run's.

    Raises:
        GateError: something else than the gateway could be reached; nothing was sent if the tables already show it.
        InfraError: the engine failed, or the gateway can't be reached from a container.
    """
    door = gateway.open(Access(upstream=_NOBODY, apis=(Api.CHAT,), models=("none",)))
    try:
        binds = (*door.binds, BindMount(source=str(INSIDE), target=INSIDE_FOLDER))
        spec = SandboxSpec(
            role=Role.PROBE, image=image, binds=binds, volumes=door.volumes, memory_mb=128, pids=32, workdir="/"
        )
        with Sandbox(engine, spec, owner) as sandbox:
            reached = try_all(sandbox, (*TARGETS, *bridges(engine)))
            asked = sandbox.run(
                (*LAUNCH, "python3", "-I", "-c", _ASK), timeout_s=60, max_output=1 << 16, env={"TOKEN": door.token}
            )
    finally:
        gateway.close(door)
    if asked.stdout.strip() != b"200":
        last = asked.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise InfraError(
            "the gateway", f"can't be reached from a container: {last[0][:200]}", "see docs/gateway.md on engines"
        )
    return reached


def try_all(sandbox: Sandbox, targets: tuple[Target, ...]) -> Reached:
    """Make every try inside a container that has :mod:`harness.gateway.inside` mounted.

    Raises:
        GateError: the tables lead somewhere, and nothing was tried; or a try got somewhere.
        InfraError: the engine failed, or the container has no Python.
    """
    ran = sandbox.run(
        ("python3", "-I", _PROBE), stdin=json.dumps({"targets": targets}).encode(), timeout_s=120, max_output=1 << 20
    )
    try:
        told: dict[str, Any] = json.loads(ran.stdout)
        leading, results = tuple(told["tables"]), dict(told["results"])
    except (ValueError, KeyError, TypeError) as error:
        raise InfraError("isolation", "a program inside a container could not be asked", _REMEDY) from error
    if leading:
        raise GateError("isolation", f"a container has the network {', '.join(leading)}", _REMEDY)
    out = sorted(name for name, result in results.items() if result == "reached")
    if out or set(results) != {name for name, *_ in targets}:
        raise GateError("isolation", f"from a container it was reached: {', '.join(out) or 'unknown'}", _REMEDY)
    return Reached(results=results)


def bridges(engine: Engine) -> tuple[Target, ...]:
    """The host's own addresses on the engine's networks, each as something to try."""
    with engine_errors("networks"):
        networks = engine.api.networks()
    configs = [one for net in networks for one in ((net.get("IPAM") or {}).get("Config") or ())]
    gateways = sorted({str(one["Gateway"]).partition("/")[0] for one in configs if one.get("Gateway")})
    return tuple((f"bridge {address}", "tcp", address, 80) for address in gateways)
