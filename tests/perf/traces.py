"""What traces cost a solver, and whether they lose anything: the same work in one container, watched or not, in turn.

Cost is CPU time of the container's cgroup, which the kernel charges for what the tracer makes it do there, and wall
time beside it, which on a busy machine says less. With `agents` as an argument real agents' attempts are compared too.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from harness.engine.client import Engine
from harness.engine.connect import connect
from harness.engine.images import ensure
from harness.engine.sandbox import Sandbox
from harness.records import Coverage
from harness.store import LocalStore
from harness.traces.hook import traced
from harness.traces.records import DENIED, FILESYSTEM, PathLine, read_lines
from harness.traces.tracing import Tracer
from tests.agents_rig import agent_rig, equipped, smoke_task
from tests.conftest import ROOT, image_cache
from tests.traces_rig import container

FILES = 10_000
ROUNDS = 15
RATE, SECONDS = 20_000, 2
LIMIT_PERCENT = 5.0
AGENTS, AGENT_ROUNDS = ("claude-code", "mini-swe-agent"), 7

_MAKE = f"""
import os
os.makedirs('/workspace/d', exist_ok=True)
text = ''.join(f'def name_{{n}}(a, b):\\n    return a + b * {{n}}\\n\\n' for n in range(30))
for i in range({FILES}):
    with open(f'/workspace/d/{{i}}.py', 'w') as file: file.write(text)
"""
_READ = f"""
import time
began = time.perf_counter()
for i in range({FILES}):
    with open(f'/workspace/d/{{i}}.py') as file:
        %s
print(time.perf_counter() - began)
"""
_OPEN = f"""
import os, time
began = time.perf_counter()
for i in range({FILES}): os.close(os.open(f'/workspace/d/{{i}}.py', os.O_RDONLY))
print(time.perf_counter() - began)
"""
_FAIL = f"""
import os, time
began = time.perf_counter()
for i in range({FILES}):
    try: os.stat(f'/workspace/d/{{i}}.not')
    except OSError: pass
print(time.perf_counter() - began)
"""
_PACED = f"""
import os, time
began = time.perf_counter()
for i in range({RATE * SECONDS}):
    os.close(os.open(f'/workspace/p{{i}}', os.O_CREAT | os.O_WRONLY))
    while time.perf_counter() - began < (i + 1) / {RATE}: pass
print(time.perf_counter() - began)
"""
_WORK = {
    "parsed, as a linter does": (_READ % "__import__('ast').parse(file.read())", True),
    "searched for a word": (_READ % "'name_31' in file.read()", False),
    "opened and closed, no more": (_OPEN, False),
}
"""Work by name, and whether the limit is of it: an open costs about as much whatever is done with the file."""


def measure(say: Callable[[str], None], arguments: Sequence[str] = ()) -> bool:
    """Print the figures; False if one is over its limit."""
    with connect(notify=say) as engine, tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        images = {"base": ensure(engine.api, "base", cache=image_cache(), images_dir=ROOT / "images", report=say)}
        bind = Path(folder) / "bundle"
        bind.mkdir()
        box = stack.enter_context(container(engine, images, "perf-traces", bind, inodes=FILES + RATE * SECONDS + 500))
        store = LocalStore(Path(folder) / "blobs")
        _run(box, _MAKE)
        ok = True
        for name, (work, judged) in _WORK.items():
            under = _cost(say, f"{FILES} files {name}, file trace", box, store, (FILESYSTEM,), work)
            ok &= under or not judged
        _cost(say, f"{FILES} failing calls, denied trace", box, store, (DENIED,), _FAIL)
        ok &= _rate(say, box, store)
        if "agents" in arguments:
            for name in AGENTS:
                ok &= _agent(say, engine, name, Path(folder) / name)
    return ok


def _agent(say: Callable[[str], None], engine: Engine, name: str, folder: Path) -> bool:
    """What both traces cost a real agent on a task, a script in its model's place."""
    images = {
        one: ensure(engine.api, one, cache=image_cache(), images_dir=ROOT / "images", report=say)
        for one in ("base", "python", "scanner")
    }
    cpu: tuple[list[float], list[float]] = ([], [])
    wall: tuple[list[float], list[float]] = ([], [])
    (solver,), task = equipped(engine, name), smoke_task("purl-rows")
    lines = 0
    with agent_rig(engine, images, folder, "perf-traces-agents") as rig:
        bare = rig.rig.tools
        both = replace(bare, hooks=traced(bare.hooks, rig.rig.store))
        rig.run(solver, task)
        for number in range(2 * AGENT_ROUNDS):
            rig.rig.tools = (bare, both)[number % 2]
            record = rig.run(solver, task).record
            assert record.solve is not None, record.reason
            cpu[number % 2].append((record.solve.use.cpu_us or 0) / 1e6)
            wall[number % 2].append(record.solve.wall_us / 1e6)
            if number % 2:
                seen = [one for one in record.traces if one.channel in {FILESYSTEM, DENIED}]
                assert all(one.coverage is Coverage.FULL for one in seen), seen
                lines = sum(len(rig.rig.store.get(one.lines.digest).splitlines()) for one in seen if one.lines)
    before, more = _middle(cpu)
    before_wall, more_wall = _middle(wall)
    say(_figures(f"{name} on {task.id}, both traces ({lines} lines)", (before, more), (before_wall, more_wall)))
    return 100 * more / before <= LIMIT_PERCENT


def _cost(
    say: Callable[[str], None], name: str, box: Sandbox, store: LocalStore, channels: tuple[str, ...], work: str
) -> bool:
    """The cost of one kind of work."""
    cpu: tuple[list[float], list[float]] = ([], [])
    wall: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * ROUNDS):
        watched = number % 2
        tracer = Tracer(store, channels) if watched else None
        if tracer:
            tracer.arm(box)
        before = box.usage().cpu_us or 0
        wall[watched].append(_run(box, work))
        cpu[watched].append(((box.usage().cpu_us or 0) - before) / 1e6)
        if tracer:
            record = tracer.record(channels[0])
            assert record.coverage is Coverage.FULL, record.reason
    bare, more = _middle(cpu)
    say(_figures(name, (bare, more), _middle(wall)) + f", {1e6 * more / FILES:.1f} us of CPU each")
    return 100 * more / bare <= LIMIT_PERCENT


def _figures(name: str, cpu: tuple[float, float], wall: tuple[float, float]) -> str:
    said = (
        f"{what} {bare:.3f} s {more:+.3f} ({100 * more / bare:+.1f}%)"
        for what, (bare, more) in (("CPU", cpu), ("wall", wall))
    )
    return f"{name}: {'; '.join(said)}"


def _middle(pair: tuple[list[float], list[float]]) -> tuple[float, float]:
    """The median of the first, and of the differences between neighbours."""
    return statistics.median(pair[0]), statistics.median(b - a for a, b in zip(*pair, strict=True))


def _rate(say: Callable[[str], None], box: Sandbox, store: LocalStore) -> bool:
    """Distinct files at the rate that must lose none."""
    tracer = Tracer(store, (FILESYSTEM,))
    tracer.arm(box)
    took = _run(box, _PACED)
    began = time.monotonic()
    record = tracer.record(FILESYSTEM)
    late = time.monotonic() - began
    assert record.lines is not None, record.reason
    lines = read_lines(store.get(record.lines.digest).splitlines())
    seen = {one.path for one in lines if isinstance(one, PathLine) and one.op == "open"}
    wanted = {f"/workspace/p{number}" for number in range(RATE * SECONDS)}
    lost = len(wanted - seen)
    say(
        f"{len(wanted)} distinct files at {len(wanted) / took:.0f} a second: {lost} lost, coverage "
        f"{record.coverage.value}; stored {late:.2f} s after the end"
    )
    return not lost and record.coverage is Coverage.FULL and took < SECONDS * 1.2


def _run(box: Sandbox, source: str) -> float:
    result = box.run(("python3", "-I", "-S", "-c", source), timeout_s=300, max_output=1 << 16)
    assert result.exit_status == 0, result.stderr
    return float(result.stdout or b"0")


if __name__ == "__main__":
    sys.exit(0 if measure(lambda line: print(line, flush=True), sys.argv[1:]) else 1)
