"""Where a run's gateway runs: beside it, or in a container where the engine's kernel is not this host's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.engine.client import Engine
from harness.engine.images import ensure
from harness.progress import Progress
from harness.records import ExecutionMode
from harness.state import State
from trialbox import places
from trialbox.settings import gateway_in_container

if TYPE_CHECKING:
    from harness.gateway.calls import AnyGateway

IMAGE = "gateway"
NETWORK = "bridge"
"""The engine's own; the gateway's container is the only one on it."""


@dataclass(frozen=True)
class Entrance:
    """The place, for one run. ``apart`` says that it is a container.

    Raises:
        UserError: the settings are malformed.
    """

    engine: Engine
    state: State
    progress: Progress
    concurrency: int

    @property
    def apart(self) -> bool:
        """Whether the gateway runs in a container."""
        return not self.engine.info.same_kernel or gateway_in_container(self.state)

    @property
    def mode(self) -> ExecutionMode:
        """How attempts come about with it."""
        return ExecutionMode.SEALED_VM_ENGINE if self.apart else ExecutionMode.SEALED

    def start(self, keys: Mapping[str, str], *, dry: bool) -> AnyGateway:
        """Start the gateway. In a dry run its container has no network: the scripts are played inside of it.

        Raises:
            InfraError: it did not start, or its image can't be had.
        """
        from harness.gateway.apart import ContainerGateway  # the gateway's packages are slow to load
        from harness.gateway.client import Gateway

        if not self.apart:
            return Gateway(self.state.blobs, self.state.root / "gateway", keys)
        image = ensure(
            self.engine.api,
            IMAGE,
            cache=places.image_cache(),
            images_dir=places.data_folder("images"),
            report=self.progress.note,
        )
        return ContainerGateway(
            self.engine,
            image.handle,
            self.state.owner,
            self.state.blobs,
            keys,
            doors=self.concurrency + 1,
            network="none" if dry else NETWORK,
        )
