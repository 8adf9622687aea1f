"""A container's cgroup, read on the host: limits in force and what was used.

Version 1, version 2 and the hybrid of both are read. An engine's own flags are not trusted for this: its OOMKilled
stays false when a tmpfs filled the memory, and its counters are gone with the container.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from harness.records import Record

ROOT = Path("/sys/fs/cgroup")
PROC = Path("/proc")


class UsageSource(StrEnum):
    """Where usage figures come from."""

    CGROUP_V1 = "cgroup_v1"
    CGROUP_V2 = "cgroup_v2"
    UNAVAILABLE = "unavailable"


class ResourceUse(Record):
    """What a container used until now. ``None`` where the kernel does not say.

    ``cpu_us`` is CPU time summed over cores; ``memory_peak_bytes`` includes page cache and tmpfs pages.
    """

    source: UsageSource
    memory_peak_bytes: int | None = None
    cpu_us: int | None = None
    throttled_us: int | None = None
    oom_kills: int | None = None
    pids_refused: int | None = None


NO_USE = ResourceUse(source=UsageSource.UNAVAILABLE)


class Limits(Record):
    """The limits in force, as the kernel states them; ``None`` where it does not say or there is no limit."""

    memory_bytes: int | None
    swap_bytes: int | None
    """Swap allowed beyond the memory limit."""
    pids: int | None
    cpuset: str | None


class Cgroup:
    """The cgroup folders of one process.

    Args:
        pid: a process of the container, in this host's pid namespace.
        marker: a text that the cgroup path must hold (the container's id), so that a stranger's pid is never read.

    Raises:
        LookupError: the process or its cgroup can't be seen from here.
    """

    def __init__(self, pid: int, marker: str, root: Path = ROOT, proc: Path = PROC) -> None:
        try:
            lines = (proc / str(pid) / "cgroup").read_text().splitlines()
        except OSError as error:
            raise LookupError(f"process {pid} can't be seen from here") from error
        self._folders: dict[str, Path] = {}
        seen = False
        for line in lines:
            _, names, path = line.split(":", 2)
            seen = seen or marker in path
            for name in names.split(",") if names else [""]:
                self._folders[name] = root / name / path.lstrip("/")
        if not seen:
            raise LookupError(f"process {pid} is not in the container's cgroup")
        unified = self._folders.pop("", None)
        self.version = 1 if "memory" in self._folders else 2
        if unified is not None and self.version == 2:
            self._unified = unified
        else:
            self._unified = root / "unified" / (str(unified.relative_to(root)) if unified else "")

    def _v1(self, controller: str, name: str) -> str | None:
        folder = self._folders.get(controller)
        return _read(folder / name) if folder else None

    def _v2(self, name: str) -> str | None:
        return _read(self._unified / name)

    def limits(self) -> Limits:
        """The limits in force."""
        if self.version == 2:
            return Limits(
                memory_bytes=_number(self._v2("memory.max")),
                swap_bytes=_number(self._v2("memory.swap.max")),
                pids=_number(self._v2("pids.max")),
                cpuset=self._v2("cpuset.cpus"),
            )
        memory = _number(self._v1("memory", "memory.limit_in_bytes"))
        both = _number(self._v1("memory", "memory.memsw.limit_in_bytes"))
        return Limits(
            memory_bytes=memory,
            swap_bytes=None if both is None or memory is None else both - memory,
            pids=_number(self._v1("pids", "pids.max")),
            cpuset=self._v1("cpuset", "cpuset.cpus"),
        )

    def usage(self) -> ResourceUse:
        """What was used until now; call it before the container's first process dies."""
        if self.version == 2:
            cpu = _table(self._v2("cpu.stat"))
            return ResourceUse(
                source=UsageSource.CGROUP_V2,
                memory_peak_bytes=_number(self._v2("memory.peak")),
                cpu_us=cpu.get("usage_usec"),
                throttled_us=cpu.get("throttled_usec"),
                oom_kills=_table(self._v2("memory.events")).get("oom_kill"),
                pids_refused=_table(self._v2("pids.events")).get("max"),
            )
        cpu_ns = _number(self._v1("cpuacct", "cpuacct.usage"))
        throttled_ns = _table(self._v1("cpu", "cpu.stat")).get("throttled_time")
        return ResourceUse(
            source=UsageSource.CGROUP_V1,
            memory_peak_bytes=_number(self._v1("memory", "memory.max_usage_in_bytes")),
            cpu_us=None if cpu_ns is None else cpu_ns // 1000,
            throttled_us=None if throttled_ns is None else throttled_ns // 1000,
            oom_kills=_table(self._v1("memory", "memory.oom_control")).get("oom_kill"),
            pids_refused=_table(self._v1("pids", "pids.events")).get("max"),
        )

    def processes(self) -> tuple[int, ...]:
        """Host pids in the container now."""
        text = self._v2("cgroup.procs") if self.version == 2 else self._v1("pids", "cgroup.procs")
        return tuple(int(line) for line in (text or "").split())

    def lift_limits(self) -> None:
        """Remove what keeps a throttled or starved process from dying; best effort, for teardown only."""
        if self.version == 2:
            wishes = [(self._unified, "cpu.max", "max"), (self._unified, "memory.max", "max")]
        else:
            cpu, memory = self._folders.get("cpu"), self._folders.get("memory")
            wishes = [
                (folder, name, "-1")
                for folder, name in (
                    (cpu, "cpu.cfs_quota_us"),
                    (memory, "memory.memsw.limit_in_bytes"),
                    (memory, "memory.limit_in_bytes"),
                )
                if folder is not None
            ]
        for folder, name, value in wishes:
            try:
                (folder / name).write_text(value)
            except OSError:
                continue  # not ours to lift, or already gone: the kill that follows decides


def runs(pid: int, proc: Path = PROC) -> bool:
    """Whether a process is there and is no zombie, which waits for nothing but to be forgotten."""
    stat = _read(proc / str(pid) / "stat")
    return stat is not None and stat.rpartition(")")[2].split()[:1] not in (["Z"], ["X"])


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _number(text: str | None) -> int | None:
    if text is None or text == "max" or not text.lstrip("-").isdigit():
        return None
    value = int(text)
    return None if value >= 2**62 else value  # version 1 writes "no limit" as a huge page-aligned number


def _table(text: str | None) -> dict[str, int]:
    rows = (line.split() for line in (text or "").splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].lstrip("-").isdigit()}
