"""The gateway as a watcher of one attempt: its socket into the solver's container, its trace out of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, VolumeMount
from harness.evidence import TraceRecord
from harness.gateway.access import Access, Closed
from harness.gateway.calls import AnyGateway, Door
from harness.records import Coverage

INSIDE_FOLDER = "/opt/trialbox"
INSIDE = Path(__file__).parent / "inside"
BASE_URL = "http://127.0.0.1:8080"
LAUNCH = ("python3", "-I", f"{INSIDE_FOLDER}/launch.py")
"""Put before a solver's command line: starts the forwarder beside it."""


class GatewayHook:
    """One attempt's door. It is opened at once, since its folder is mounted when the container is made.

    Raises:
        InfraError: the gateway died.
    """

    channel = "web"

    def __init__(self, gateway: AnyGateway, access: Access, *, key: str | None = None) -> None:
        self._gateway = gateway
        self.door: Door = gateway.open(access, key=key)
        self.closed: Closed | None = None
        self.env: dict[str, str] = {}
        self.binds: Sequence[BindMount] = (*self.door.binds, BindMount(source=str(INSIDE), target=INSIDE_FOLDER))
        self.volumes: Sequence[VolumeMount] = self.door.volumes

    @property
    def token(self) -> str:
        """What the attempt gives as its key."""
        return self.door.token

    def before_solve(self, sandbox: Sandbox) -> None:
        """Nothing to arm: the socket is served since the door was opened, and the container has no other way out."""

    def after_solve(self) -> TraceRecord:
        """Close the door and hand over the trace.

        Raises:
            InfraError: the gateway died, and with it the attempt's model: nothing can be said of the solver.
        """
        self.closed = self._gateway.close(self.door)
        coverage = Coverage.PARTIAL if self.closed.problem else Coverage.FULL
        reason = self.closed.problem or "every request went through the gateway"
        return TraceRecord(channel=self.channel, coverage=coverage, reason=reason, lines=self.closed.trace)
