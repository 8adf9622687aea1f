"""Searches all that can be seen of a running container for needles: files, memory, environment, mounts, image."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.engine.cgroup import Cgroup
from harness.engine.sandbox import Sandbox

_SKIPPED = {"proc", "sys"}
_BLOCK = 1 << 24


def search(sandbox: Sandbox, needles: Sequence[bytes]) -> set[str]:
    """Where any needle is found, as ``kind:place``. The host reads as root, so modes and owners hide nothing."""
    inspected = sandbox.engine.api.inspect_container(sandbox.id)
    pid = int(inspected["State"]["Pid"])
    found = _matcher(needles)
    hits = {f"file:{name}" for name, data in _files(Path(f"/proc/{pid}/root")) if found(data)}
    for each in Cgroup(pid, sandbox.id).processes():
        hits |= {f"process:{name}" for name, data in _process(each) if found(data)}
    visible = {"config": inspected["Config"], "image": sandbox.engine.api.inspect_image(inspected["Image"])}
    hits |= {f"engine:{name}" for name, value in visible.items() if found(json.dumps(value).encode())}
    history = sandbox.engine.api.history(inspected["Image"])
    if found(json.dumps(history).encode()):
        hits.add("engine:history")
    return hits


def search_processes(sandbox: Sandbox, needles: Sequence[bytes]) -> set[str]:
    """Where a needle is found in the memory of any process of the container."""
    pid = int(sandbox.engine.api.inspect_container(sandbox.id)["State"]["Pid"])
    found = _matcher(needles)
    return {
        f"memory:{each}" for each in Cgroup(pid, sandbox.id).processes() if any(found(block) for block in _memory(each))
    }


def _matcher(needles: Sequence[bytes]):
    forms = {form for needle in needles for form in (needle, needle[::-1], needle.hex().encode())}
    pattern = re.compile(b"|".join(re.escape(form) for form in sorted(forms)))
    return lambda data: pattern.search(data) is not None


def _files(root: Path) -> Iterator[tuple[str, bytes]]:
    for folder, names, files in os.walk(root, followlinks=False):
        if Path(folder) == root:
            names[:] = [name for name in names if name not in _SKIPPED]
        for name in (*names, *files):
            yield name, os.fsencode(name)
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                yield str(path.relative_to(root)), path.read_bytes()
            elif stat.S_ISLNK(mode):
                yield str(path.relative_to(root)), os.fsencode(path.readlink())


def _process(pid: int) -> Iterator[tuple[str, bytes]]:
    for name in ("environ", "cmdline", "comm", "mountinfo", "cgroup", "status", "maps"):
        try:
            yield name, Path(f"/proc/{pid}/{name}").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return


def _memory(pid: int) -> Iterator[bytes]:
    try:
        maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
        with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
            for line in maps:
                span, flags = line.split()[:2]
                low, high = (int(part, 16) for part in span.split("-"))
                if "r" not in flags or high - low > 1 << 30:
                    continue
                for start in range(low, high, _BLOCK):
                    try:
                        memory.seek(start)
                        yield memory.read(min(_BLOCK + 4096, high - start))
                    except (OSError, OverflowError, ValueError):
                        continue
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return
