"""Which host this is, as a digest: energies of two hosts are never pooled, nor is one's idle power used on another."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from harness import digest
from harness.energy.records import Zone
from harness.records import Count, Record, to_value

PROC = Path("/proc")
MACHINE_ID = Path("/etc/machine-id")


class HostFacts(Record):
    """What the fingerprint is made of. Only the digest goes on a card."""

    cpu_model: str
    sockets: Count
    cpus: Count
    memory_gib: Count
    """Rounded, since the kernel's own share moves between boots."""
    kernel: str
    machine: str | None
    """A salted digest of the machine id, which itself must not be published (machine-id(5))."""
    zones: tuple[str, ...]
    """Each zone's name and provenance."""

    @property
    def fingerprint(self) -> str:
        """The host's digest."""
        return digest.digest(to_value(self))


def host_facts(zones: Sequence[Zone], proc: Path = PROC, machine_id: Path = MACHINE_ID) -> HostFacts:
    """This host's facts; what can't be read is left at 0 or ``unknown``."""
    cpuinfo = _text(proc / "cpuinfo")
    sockets = set(re.findall(r"^physical id\s*:\s*(\d+)", cpuinfo, re.MULTILINE))
    model = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", _text(proc / "meminfo"), re.MULTILINE)
    machine = _text(machine_id).strip()
    return HostFacts(
        cpu_model=model[1].strip() if model else platform.processor() or platform.machine() or "unknown",
        sockets=len(sockets),
        cpus=os.cpu_count() or 0,
        memory_gib=round(int(memory[1]) / 2**20) if memory else 0,
        kernel=f"{platform.system()} {platform.release()}",
        machine=hashlib.sha256(b"trialbox host\0" + machine.encode()).hexdigest() if machine else None,
        zones=tuple(f"{zone.name}={zone.provenance.value}" for zone in zones),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
