"""Real agents in sealed containers against the scripted provider, through the real gateway."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import bundles
from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.evidence import AttemptRecord
from harness.gateway.access import Access, Closed
from harness.gateway.client import Gateway
from harness.gateway.hook import GatewayHook
from harness.gateway.providers import scripted
from harness.gateway.scripted.provider import ScriptedProvider
from harness.gateway.scripted.script import Script
from harness.gateway.scripted.served import Served
from harness.gateway.scripted.tasks import script_for
from harness.gateway.settings import Settings
from harness.records import Cell
from harness.solvers.choose import choose
from harness.solvers.manifest import Manifest, Solver
from harness.solvers.worker import APIS
from harness.suites.load import load_suite
from harness.suites.task import Task
from tests.attempt_rig import Rig, make_rig
from tests.conftest import ROOT, image_cache

IMAGES = ROOT / "images"
AGENTS = IMAGES / "agents"
ROOMY = {"wall_s": 300, "memory_mb": 3072, "home_mb": 256, "home_inodes": 20_000, "tmp_mb": 64, "pids": 256}
"""Limits under which every agent has room, for tests that are not about limits."""


def smoke_task(name: str, *, suite_limits: bool = False, **limits: int) -> Task:
    """A task of the smoke suite under roomy limits, or its own with time enough for a busy machine."""
    task = load_suite(ROOT / "tasks/smoke").task(name)
    base = {"wall_s": ROOMY["wall_s"]} if suite_limits else ROOMY
    changed = task.spec.limits.model_copy(update={**base, **limits})
    return dataclasses.replace(task, spec=task.spec.model_copy(update={"limits": changed}))


def equipped(engine: Engine, *texts: str) -> tuple[Solver, ...]:
    """Chosen solvers with their bundles."""
    return bundles.equip(
        choose(texts, AGENTS),
        lambda name: bundles.ensure(engine.api, name, cache=image_cache(), images_dir=IMAGES, report=print),
    )


@dataclass(frozen=True)
class Went:
    """An attempt, what the gateway saw of it, and what the provider served."""

    record: AttemptRecord
    closed: Closed
    truth: tuple[Served, ...]


@dataclass
class AgentRig:
    """Attempts of agents on one engine, with one gateway and one provider."""

    rig: Rig
    gateway: Gateway
    provider: ScriptedProvider
    hooks: list[GatewayHook] = field(default_factory=list)

    def run(self, solver: Solver, task: Task, script: Script | None = None) -> Went:
        """One attempt; by default the script is the task's own reference."""
        key = self.provider.add(script or script_for(task))
        hook = GatewayHook(self.gateway, access_of(solver.manifest, self.provider.url), key=key)
        self.hooks[:] = [hook]
        record = self.rig.run(solver.manifest, task=task, bundle=solver.bundle)
        assert hook.closed is not None
        return Went(record, hook.closed, self.provider.truth(key))

    def text(self, blob: Any) -> str:
        """A blob as text."""
        return self.rig.text(blob)


def access_of(manifest: Manifest, url: str) -> Access:
    """What a solver may do at the scripted provider."""
    api = manifest.api or APIS[manifest.provider or "openai"]
    return Access(upstream=scripted(url), apis=(api,), models=(manifest.model, *manifest.side_models))


@contextmanager
def agent_rig(
    engine: Engine, images: Mapping[str, BuiltImage], folder: Path, owner: str, patience: Settings | None = None
) -> Iterator[AgentRig]:
    """A rig in a folder of its own."""
    hooks: list[GatewayHook] = []

    def watch(_: Cell) -> tuple[GatewayHook, ...]:
        return tuple(hooks)

    with ExitStack() as stack:
        rig = make_rig(engine, images, folder, owner, watch)
        gateway = stack.enter_context(Gateway(folder / "blobs", folder / "run", {}, patience))
        provider = stack.enter_context(ScriptedProvider())
        yield AgentRig(rig, gateway, provider, hooks)
