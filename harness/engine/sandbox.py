"""One container, from its spec to its removal: the only place that creates containers for candidates.

A sandbox starts with a holding process, is proved sealed (``seal.py``), and only then runs programs. Nothing survives
``destroy``; what must outlive a solver lives in a volume that another container, the keeper, also holds.
"""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from docker.errors import NotFound
from docker.types import LogConfig, Mount, Ulimit

from harness.engine import cgroup, exec, seal, seccomp
from harness.engine.cgroup import NO_USE, Cgroup, ResourceUse
from harness.engine.client import LABEL, Engine, EngineKind, engine_errors
from harness.engine.exec import ExecResult
from harness.engine.owned import ROLE_LABEL, STATE_LABEL, opaque_name, remove
from harness.engine.seal import SealFacts
from harness.engine.spec import SandboxSpec
from harness.errors import InfraError

# The first process reaps what the candidate orphans, so that zombies do not eat the pids limit. It can't be killed from
# inside (the kernel shields a namespace's first process), and it costs two pids.
_HOLD = ("sh", "-c", "while :; do sleep 86400 & wait $!; done")
_TMP = "/tmp"  # noqa: S108 - inside the container
_TMP_INODES = 10_000
_LOW_PORTS = {"net.ipv4.ip_unprivileged_port_start": "0"}
"""Docker's own setting, on every engine: what listens on ports 53, 80 and 443 of the loopback is not root."""
_ENDING_S, _ENDING_POLL_S = 1.0, 0.01
"""How long processes may take that were ending when their program did."""


def _tmp_inodes(engine: Engine) -> str:
    """Podman knows no inode cap for a plain tmpfs: there the memory limit alone bounds the files of /tmp."""
    return "" if engine.info.kind is EngineKind.PODMAN else f",nr_inodes={_TMP_INODES}"


def _ulimits(engine: Engine) -> list[Ulimit]:
    """No core files. Podman drops the user's configured limits once one is named here, so there none is."""
    return [] if engine.info.kind is EngineKind.PODMAN else [Ulimit(name="core", soft=0, hard=0)]


class Sandbox:
    """A running, sealed container.

    Args:
        engine: where to run it.
        spec: what it is.
        owner: the state folder's digest, for the label by which leftovers are found.

    Raises:
        GateError: the engine does not enforce what the spec asks; the container is gone again.
        InfraError: it could not be created or started.
    """

    def __init__(self, engine: Engine, spec: SandboxSpec, owner: str) -> None:
        self.engine = engine
        self.spec = spec
        self.id = _create(engine, spec, owner)
        self.pid: int | None = None
        """Its first process as this host counts, once proved; None where the engine's kernel is not this host's."""
        self._group: Cgroup | None = None
        try:
            with engine_errors("container"):
                engine.api.start(self.id)
            self.seal = self._prove_sealed()
        except BaseException:
            self.destroy()
            raise

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    def _prove_sealed(self) -> SealFacts:
        with engine_errors("container"):
            state: dict[str, Any] = self.engine.api.inspect_container(self.id)["State"]
        if not state["Running"]:
            raise InfraError(
                "container", f"ended at once: {state.get('Error') or state['ExitCode']}", "see `trialbox doctor`"
            )
        pid = int(state["Pid"])
        try:
            if not self.engine.info.same_kernel:
                raise LookupError("the engine runs on another kernel")
            self._group = Cgroup(pid, self.id)
            facts = seal.read_on_host(pid, self._group)
            self.pid = pid
        except LookupError:
            self._group = None
            answer = self.run(seal.READ_INSIDE, timeout_s=30, max_output=1 << 20)
            facts = seal.parse_inside(answer.stdout.decode("utf-8", "replace"))
        seal.check(self.spec, facts, swap_on_host=host_has_swap())
        return facts

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | Iterator[bytes] = b"",
        timeout_s: float,
        max_output: int,
        user: str | None = None,
        workdir: str | None = None,
        env: Mapping[str, str] | None = None,
        consume: Callable[[bytes], None] | None = None,
    ) -> ExecResult:
        """Run a program in it (see :func:`harness.engine.exec.run`)."""
        return exec.run(
            self.engine,
            self.id,
            argv,
            user=user or self.spec.user,
            workdir=workdir or self.spec.workdir,
            env=env or {},
            stdin=stdin,
            timeout_s=timeout_s,
            max_output=max_output,
            consume=consume,
        )

    def put(self, folder: str, archive: bytes) -> None:
        """Unpack a tar made by the harness into *folder*, which must lie on a volume.

        Raises:
            InfraError: the engine refused, which includes a tree larger than the volume.
        """
        with engine_errors(f"unpacking into {folder}"):
            self.engine.api.put_archive(self.id, folder, archive)

    def alive(self) -> bool:
        """Whether its first process still runs; a container that was ended from outside is not."""
        try:
            with engine_errors("container"):
                state: dict[str, Any] = self.engine.api.inspect_container(self.id)["State"]
        except InfraError as error:
            if isinstance(error.__cause__, NotFound):
                return False
            raise
        return bool(state["Running"])

    def usage(self) -> ResourceUse:
        """What it used until now; unavailable where the engine's kernel is not this host's."""
        return self._group.usage() if self._group else NO_USE

    def processes(self, *, expected: int | None = None) -> int | None:
        """How many processes run in it now; None where the engine's kernel is not this host's.

        A program is over as soon as its first process is: what it ended as its last act may still be on its way out.
        Where more run than are *expected*, they get a moment for that.
        """
        if self._group is None:
            return None
        until = time.monotonic() + _ENDING_S
        while True:
            number = sum(map(cgroup.runs, self._group.processes()))
            if expected is None or number <= expected or time.monotonic() > until:
                return number
            time.sleep(_ENDING_POLL_S)

    def destroy(self) -> None:
        """Kill everything in it and remove it. Calling it again does nothing."""
        remove(self.engine, self.id, self._kill_on_host)

    def _kill_on_host(self) -> None:
        """When the engine can't kill it: lift what keeps processes from dying, then signal each one."""
        if self._group is None:
            return
        self._group.lift_limits()
        for pid in self._group.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _create(engine: Engine, spec: SandboxSpec, owner: str) -> str:
    api = engine.api
    narrowed = [] if spec.cap_add else seccomp.options(engine, spec.image, {STATE_LABEL: owner})
    mounts = [
        *(
            Mount(one.target, one.volume, type="volume", read_only=one.read_only, no_copy=one.no_copy)
            for one in spec.volumes
        ),
        *(Mount(one.target, one.source, type="bind", read_only=one.read_only) for one in spec.binds),
    ]
    with engine_errors("container"):
        made: dict[str, Any] = api.create_container(
            spec.image,
            command=list(_HOLD[1:]),
            entrypoint=[_HOLD[0]],
            hostname=secrets.token_hex(6),
            user=spec.user,
            working_dir="/",
            environment=dict(spec.env),
            name=opaque_name(),
            labels={LABEL: "1", STATE_LABEL: owner, ROLE_LABEL: spec.role.value},
            network_disabled=True,
            use_config_proxy=False,
            stop_timeout=0,
            host_config=api.create_host_config(
                network_mode="none",
                # The host's resolver is nobody's business, and names asked for are noted where something listens here.
                dns=["127.0.0.1"],
                sysctls=_LOW_PORTS,
                read_only=True,
                cap_drop=["ALL"],
                cap_add=list(spec.cap_add),
                security_opt=["no-new-privileges", *narrowed],
                mem_limit=spec.memory_mb << 20,
                memswap_limit=spec.memory_mb << 20,
                pids_limit=spec.pids,
                cpuset_cpus=spec.cpuset or None,
                tmpfs={_TMP: f"rw,exec,nosuid,nodev,mode=1777,size={spec.tmp_mb}m{_tmp_inodes(engine)}"},
                shm_size=16 << 20,
                mounts=mounts,
                log_config=LogConfig(type="none", config={}),
                ipc_mode="private",
                ulimits=_ulimits(engine),
            ),
        )
    return str(made["Id"])


def host_has_swap() -> bool:
    """Whether this host can swap at all; where it can't be known, yes."""
    try:
        return len(Path("/proc/swaps").read_text().splitlines()) > 1
    except OSError:
        return True  # not Linux: the engine's kernel is elsewhere and its swap unknown
