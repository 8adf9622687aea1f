"""Whether a started container is really sealed, read from the kernel and not from what was asked for.

The facts come from ``/proc/<pid>`` and the cgroup on the host where the engine shares its kernel, else from inside the
container before anything of a candidate's runs in it. Isolation is proved from the interface and routing tables: there
must be no interface but loopback and no route elsewhere, so that no probe ever has to be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from harness.engine import cgroup
from harness.engine.spec import SandboxSpec
from harness.errors import GateError
from harness.records import Record

_PROC_FILES = ("status", "mountinfo", "net/dev", "net/route", "net/ipv6_route")
_CGROUP_FILES = (
    "memory.max",
    "memory.swap.max",
    "pids.max",
    "cpuset.cpus.effective",
    "memory/memory.limit_in_bytes",
    "memory/memory.memsw.limit_in_bytes",
    "pids/pids.max",
    "cpuset/cpuset.cpus",
)
_TELLING = ("size=", "nr_inodes=", "uid=", "mode=")
READ_INSIDE = (
    "sh",
    "-c",
    'for f in "$@"; do printf "\\n==%s\\n" "$f"; cat "$f" 2>/dev/null; done',
    "sh",
    *(f"/proc/self/{name}" for name in _PROC_FILES),
    *(f"/sys/fs/cgroup/{name}" for name in _CGROUP_FILES),
)


class SealSource(StrEnum):
    """Where the facts were read."""

    HOST = "host"
    CONTAINER = "container"


class MountFact(Record):
    """A mount as the kernel has it; options are the mount's and the filesystem's together."""

    target: str
    fstype: str
    options: tuple[str, ...]


class SealFacts(Record):
    """What the kernel says of a container's first process."""

    source: SealSource
    uid: int
    cap_effective: str
    no_new_privileges: bool
    seccomp_filter: bool
    interfaces: tuple[str, ...]
    routes_off_loopback: int
    mounts: tuple[MountFact, ...]
    limits: cgroup.Limits


def read_on_host(pid: int, group: cgroup.Cgroup) -> SealFacts:
    """The facts, from this host's view of the container's first process.

    Raises:
        LookupError: the process ended meanwhile.
    """
    try:
        texts = {name: Path(f"/proc/{pid}/{name}").read_text() for name in _PROC_FILES if name != "net/ipv6_route"}
    except OSError as error:
        raise LookupError(f"process {pid} ended") from error
    ipv6 = Path(f"/proc/{pid}/net/ipv6_route")
    texts["net/ipv6_route"] = ipv6.read_text() if ipv6.exists() else ""
    return _facts(SealSource.HOST, texts, group.limits())


def parse_inside(output: str) -> SealFacts:
    """The facts, from what :data:`READ_INSIDE` printed inside the container."""
    texts: dict[str, str] = {}
    for part in output.split("\n==")[1:]:
        name, _, text = part.partition("\n")
        texts[name.removeprefix("/proc/self/").removeprefix("/sys/fs/cgroup/")] = text.strip()
    memory = _int(texts, "memory.max", "memory/memory.limit_in_bytes")
    both = _int(texts, "memory/memory.memsw.limit_in_bytes")
    swap = _int(texts, "memory.swap.max") if both is None or memory is None else both - memory
    limits = cgroup.Limits(
        memory_bytes=memory,
        swap_bytes=swap,
        pids=_int(texts, "pids.max", "pids/pids.max"),
        cpuset=texts.get("cpuset.cpus.effective") or texts.get("cpuset/cpuset.cpus") or None,
    )
    return _facts(SealSource.CONTAINER, texts, limits)


def check(spec: SandboxSpec, facts: SealFacts, *, swap_on_host: bool) -> None:
    """Compare what is with what was asked.

    Args:
        spec: what was asked.
        facts: what is.
        swap_on_host: whether the host has any swap; without it a kernel that can't limit swap is no leak.

    Raises:
        GateError: something asked for is not in force; all of it is named.
    """
    wrong = [*_identity(spec, facts), *_limits(spec, facts, swap_on_host), *_mounts(spec, facts)]
    if wrong:
        raise GateError(
            f"isolation of a {spec.role.value} container",
            "; ".join(wrong),
            "use an engine that enforces this (`trialbox doctor` shows what is missing)",
        )


def _identity(spec: SandboxSpec, facts: SealFacts) -> list[str]:
    wrong = []
    if str(facts.uid) != spec.user.partition(":")[0]:
        wrong.append(f"runs as uid {facts.uid}")
    if not spec.cap_add and int(facts.cap_effective, 16):
        wrong.append(f"has capabilities {facts.cap_effective}")
    if not facts.no_new_privileges:
        wrong.append("new privileges are possible")
    if not facts.seccomp_filter:
        wrong.append("has no seccomp filter")
    others = [name for name in facts.interfaces if name != "lo"]
    if others:
        wrong.append(f"has network interfaces {', '.join(others)}")
    if facts.routes_off_loopback:
        wrong.append(f"has {facts.routes_off_loopback} network routes")
    return wrong


def _limits(spec: SandboxSpec, facts: SealFacts, swap_on_host: bool) -> list[str]:
    wrong = []
    if facts.limits.memory_bytes != spec.memory_mb << 20:
        wrong.append(f"memory limit is {facts.limits.memory_bytes} instead of {spec.memory_mb << 20}")
    if facts.limits.swap_bytes != 0 and swap_on_host:
        wrong.append(f"swap limit is {facts.limits.swap_bytes} instead of 0")
    if facts.limits.pids != spec.pids:
        wrong.append(f"pids limit is {facts.limits.pids} instead of {spec.pids}")
    if spec.cpuset and facts.limits.cpuset != spec.cpuset:
        wrong.append(f"cores are {facts.limits.cpuset} instead of {spec.cpuset}")
    return wrong


def _mounts(spec: SandboxSpec, facts: SealFacts) -> list[str]:
    by_target = {mount.target: mount for mount in facts.mounts}
    wrong = []
    root = by_target.get("/")
    if root is None or "ro" not in root.options:
        wrong.append("the root filesystem is writable")
    for volume in spec.volumes:
        mount = by_target.get(volume.target)
        if mount is None or mount.fstype != "tmpfs":
            wrong.append(f"{volume.target} is not the capped volume")
            continue
        size = f"size={volume.size_mb * 1024}k"
        inodes = f"nr_inodes={volume.inodes}"
        # Engines lose these two where they mount a volume read-only; nobody here can make such a file in it then.
        flags = () if volume.read_only else ("nosuid", "nodev")
        wrong += [f"{volume.target} lacks {want}" for want in (size, inodes, *flags) if want not in mount.options]
        if volume.read_only and "ro" not in mount.options:
            wrong.append(f"{volume.target} is writable")
    for bind in spec.binds:
        mount = by_target.get(bind.target)
        if bind.read_only and (mount is None or "ro" not in mount.options):
            wrong.append(f"{bind.target} is writable")
    if any(target.endswith(("docker.sock", "podman.sock")) for target in by_target):
        wrong.append("an engine socket is mounted")
    return wrong


def _facts(source: SealSource, texts: Mapping[str, str], limits: cgroup.Limits) -> SealFacts:
    status = dict(line.split(":", 1) for line in texts["status"].splitlines() if ":" in line)
    interfaces = tuple(line.split(":")[0].strip() for line in texts["net/dev"].splitlines()[2:] if ":" in line)
    ipv4 = [line.split()[0] for line in texts["net/route"].splitlines()[1:] if line.split()]
    ipv6 = [line.split()[-1] for line in texts["net/ipv6_route"].splitlines() if line.split()]
    return SealFacts(
        source=source,
        uid=int(status["Uid"].split()[1]),
        cap_effective=status["CapEff"].strip(),
        no_new_privileges=status["NoNewPrivs"].strip() == "1",
        seccomp_filter=status.get("Seccomp", "0").strip() == "2",
        interfaces=interfaces,
        routes_off_loopback=sum(name != "lo" for name in (*ipv4, *ipv6)),
        mounts=tuple(_mount(line) for line in texts["mountinfo"].splitlines() if " - " in line),
        limits=limits,
    )


def _mount(line: str) -> MountFact:
    left, _, right = line.partition(" - ")
    fields = left.split()
    fstype, _, options = right.split(" ", 2)
    target = fields[4].encode().decode("unicode_escape")
    kept = [part for part in options.split(",") if part.startswith(_TELLING)]  # the rest names folders of the host
    return MountFact(target=target, fstype=fstype, options=tuple(dict.fromkeys([*fields[5].split(","), *kept])))


def _int(texts: Mapping[str, str], *names: str) -> int | None:
    for name in names:
        text = texts.get(name, "")
        if text.isdigit() and int(text) < 2**62:
            return int(text)
    return None
