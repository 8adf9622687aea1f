"""What an audit takes: trace lines a second, and the memory that a trajectory of 2 GB needs.

Judged by processor time, so that a busy machine does not decide; wall time stands beside it.
"""

from __future__ import annotations

import io
import json
import random
import resource
import time
from collections.abc import Callable

from audits.filesystem import audit_denied, audit_filesystem
from audits.needles import Needle, scan
from audits.records import Kind
from audits.trajectory import audit_trajectory
from audits.verdict import Notebook
from tests.audits_rig import chained, end, failed, marker, opened

LINES = 200_000
MIN_LINES_S = 200_000
LOG_BYTES = 2 << 30
MAX_GROWTH = 64 << 20
Say = Callable[[str], object]


def measure(say: Say) -> bool:
    """Print the figures; False if one is over its limit."""
    return bool(_lines(say) & _searching(say) & _log(say))


def _lines(say: Say) -> bool:
    ok = True
    rng = random.Random(1)
    paths = [f"/usr/lib/python3/dist-packages/m{rng.randrange(99)}/f{n}.py" for n in range(LINES)]
    for name, raw in (
        ("filesystem", chained([marker(), *map(opened, paths), end()])),
        ("denied", chained([marker(), *map(failed, paths), end()])),
    ):
        audit = audit_filesystem if name == "filesystem" else audit_denied
        best, wall = 1e9, 1e9
        for _ in range(5):
            began, cpu = time.monotonic(), time.process_time()
            seen = audit(io.BytesIO(raw), Notebook())
            best, wall = min(best, time.process_time() - cpu), min(wall, time.monotonic() - began)
        assert seen.lines == LINES + 2
        rate = seen.lines / best
        ok &= rate >= MIN_LINES_S
        say(
            f"{name} trace: {rate:,.0f} lines/s of processor time (limit {MIN_LINES_S:,}), "
            f"{seen.lines / wall:,.0f} by the clock; {len(raw) / seen.lines:.0f} bytes a line"
        )
    return ok


def _searching(say: Say) -> bool:
    needles = [Needle(Kind.NONCE, str(n), random.Random(n).randbytes(16).hex()) for n in range(8)]
    text = json.dumps({"content": "a line of some output\n" * 40_000}).encode() * 20
    cpu = time.process_time()
    assert scan(text, needles) == {}
    took = time.process_time() - cpu
    say(f"search for {len(needles)} secrets in every encoding: {len(text) / took / 1e6:,.0f} MB/s of processor time")
    return True


def _log(say: Say) -> bool:
    """A trajectory of 2 GB, made as it is read: commands, and output of several kilobytes each."""
    ok = True
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cd /repo && grep -rn 'x' src | head"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "src/a.py:1: a line of some output\n" * 2_000}
    rows = [
        {"type": "assistant", "message": {"content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
    ]
    step = {"action": call["input"]["command"], "observation": result["content"]}  # type: ignore[index]
    for name, head, filler in (
        ("JSON lines", b"", "".join(json.dumps(one) + "\n" for one in rows).encode()),
        ("one JSON document", b'{"trajectory": [', json.dumps(step).encode() + b","),
    ):
        needles = [Needle(Kind.NONCE, "n", random.Random(3).randbytes(16).hex())]
        audit_trajectory(_endless(head, filler, 64 << 20), needles)  # what the first megabytes need, all need
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        began, cpu = time.monotonic(), time.process_time()
        found = audit_trajectory(_endless(head, filler, LOG_BYTES), needles)
        took, used = time.monotonic() - began, time.process_time() - cpu
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
        ok &= grown <= MAX_GROWTH
        say(
            f"2 GB of {name}: {LOG_BYTES / used / 1e6:,.0f} MB/s of processor time ({took:.0f} s by the clock), "
            f"{found.steps:,} steps, memory grew by {grown >> 20} MB over the first 64 (limit {MAX_GROWTH >> 20})"
        )
    return ok


def _endless(head: bytes, filler: bytes, size: int) -> Callable[[int], bytes]:
    buffer = bytearray(head)
    left = size

    def read(count: int) -> bytes:
        nonlocal left
        count = min(count, left)
        while len(buffer) < count:
            buffer.extend(filler)
        given = bytes(buffer[:count])
        del buffer[:count]
        left -= len(given)
        return given

    return read
