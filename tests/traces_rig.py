"""A sealed container with a volume and a bind mount, watched by a tracer, and what the traces of it say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.engine.client import Engine
from harness.engine.images import BuiltImage
from harness.engine.owned import Volumes, opaque_name
from harness.engine.sandbox import Sandbox
from harness.engine.spec import BindMount, Role, SandboxSpec, VolumeMount
from harness.evidence import TraceRecord
from harness.store import LocalStore
from harness.traces.records import DENIED, FILESYSTEM, CallLine, MarkerLine, PathLine, read_lines
from harness.traces.tracing import Tracer


@dataclass
class Watched:
    """A container under watch; the traces are there once it is over."""

    sandbox: Sandbox
    tracer: Tracer
    store: LocalStore
    records: dict[str, TraceRecord] = field(default_factory=dict)
    _read: dict[str, list[Any]] = field(default_factory=dict)

    def run(self, script: str | tuple[str, ...]) -> str:
        """Run a shell script, or Python where the first word is ``python``, as the solver would; its output."""
        argv = ("sh", "-c", script) if isinstance(script, str) else script
        result = self.sandbox.run(argv, timeout_s=60, max_output=1 << 16)
        return (result.stdout + result.stderr).decode()

    def python(self, source: str) -> str:
        """Run a Python program in it; its output."""
        return self.run(("python3", "-I", "-S", "-c", source))

    def lines(self, channel: str) -> list[Any]:
        """The checked lines of a trace."""
        if channel not in self._read:
            blob = self.records[channel].lines
            assert blob is not None, self.records[channel].reason
            self._read[channel] = list(read_lines(self.store.get(blob.digest).splitlines()))
        return self._read[channel]

    def paths(self, op: str) -> dict[str, PathLine]:
        """Paths by name, of processes inside."""
        found = (one for one in self.lines(FILESYSTEM) if isinstance(one, PathLine))
        return {one.path: one for one in found if one.op == op and one.inside}

    def calls(self) -> set[tuple[str, str, str]]:
        """Kind, target and error of each failed call."""
        return {(one.call.value, one.target, one.errno) for one in self.lines(DENIED) if isinstance(one, CallLine)}

    def markers(self, channel: str) -> list[str]:
        """Where the markers were."""
        return [one.path for one in self.lines(channel) if isinstance(one, MarkerLine)]


@contextmanager
def container(
    engine: Engine, images: Mapping[str, BuiltImage], owner: str, bind: Path, *, inodes: int = 4000
) -> Iterator[Sandbox]:
    """A container as a solver's is, with a volume at ``/workspace`` and *bind* at ``/opt/bundle``."""
    mount = VolumeMount(volume=opaque_name(), target="/workspace", size_mb=64, inodes=inodes)
    volumes = Volumes(engine, owner, [mount])
    try:
        spec = SandboxSpec(
            role=Role.SOLVER,
            image=images["base"].handle,
            volumes=(mount,),
            binds=(BindMount(source=str(bind), target="/opt/bundle"),),
        )
        with Sandbox(engine, spec, owner) as sandbox:
            yield sandbox
    finally:
        volumes.remove()


@contextmanager
def watched(
    engine: Engine,
    images: Mapping[str, BuiltImage],
    owner: str,
    folder: Path,
    tracer: Callable[[LocalStore], Tracer] = Tracer,
) -> Iterator[Watched]:
    """A watched container. Its traces are read once the block has ended."""
    bind, store = folder / "bundle", LocalStore(folder / "blobs")
    bind.mkdir(exist_ok=True)
    (bind / "tool.sh").write_text("#!/bin/sh\nexit 0\n")
    (bind / "tool.sh").chmod(0o755)
    one = tracer(store)
    try:
        with container(engine, images, owner, bind) as sandbox:
            seen = Watched(sandbox, one, store)
            one.arm(sandbox)
            yield seen
        seen.records = {channel: one.record(channel) for channel in (FILESYSTEM, DENIED)}
    finally:
        one.close()
