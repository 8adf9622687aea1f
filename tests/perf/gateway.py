"""What the gateway adds to a request: forwarder, socket and gateway against the direct way, alternating in one run.

The provider, the forwarder and the gateway are processes of their own, as in a run; the client writes a request in one
piece and reads raw bytes, so that its own time is small and the same on both ways.
"""

from __future__ import annotations

import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness.gateway.client import Door
from harness.gateway.hook import INSIDE
from harness.gateway.records import Api, Completeness
from tests.gateway_rig import BODIES, gateway_rig

REQUESTS = 400
WARM_UP = 40
STREAMS = 64
CHUNKS = 200
MEDIAN_MS, P95_MS, FIRST_BYTE_MS, MEMORY_MB = 1.0, 3.0, 1.5, 150

_PROVIDER = """
import asyncio, json, sys
from aiohttp import web
from harness.gateway.records import Api
from tests.gateway_rig import ANSWERS, ANTHROPIC_STREAM, events
whole = json.dumps(ANSWERS[Api.ANTHROPIC]).encode()
delta = events({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "word " * 20}})
async def answer(request):
    asked = json.loads(await request.read())
    if not asked.get("stream"):
        return web.Response(body=whole, content_type="application/json")
    said = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await said.prepare(request)
    await said.write(events(ANTHROPIC_STREAM[0]))
    for _ in range(asked["max_tokens"]):
        await said.write(delta)
        await asyncio.sleep(0.01)
    await said.write(events(*ANTHROPIC_STREAM[2:]))
    return said
async def main():
    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""
_FORWARDER = """
import sys
sys.path.insert(0, sys.argv[1])
import forward
listener = forward.bind(port=0)
print(listener.getsockname()[1], flush=True)
forward.Forwarder(listener, sys.argv[2]).serve()
"""


class Way:
    """A connection that is kept, to the provider itself or to the forwarder before the gateway."""

    def __init__(self, port: int, key: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: {key}\r\n".encode()

    def ask(self, body: bytes) -> float:
        """Seconds until the last byte of a whole answer."""
        began = self._send(body)
        answer = b""
        while (size := _whole(answer)) is None or len(answer) < size:
            answer += self._more()
        assert answer.startswith(b"HTTP/1.1 200"), answer[:300]
        return time.perf_counter() - began

    def stream(self, body: bytes) -> tuple[float, bytes]:
        """Seconds until the first byte of a stream's first event, and the whole stream as it came."""
        began = self._send(body)
        answer, first = b"", None
        while not answer.endswith(b"0\r\n\r\n"):
            answer += self._more()
            if first is None and b"data:" in answer:
                first = time.perf_counter() - began
        assert first is not None and answer.startswith(b"HTTP/1.1 200"), answer[:300]
        return first, answer

    def close(self) -> None:
        self._socket.close()

    def _send(self, body: bytes) -> float:
        request = self._head + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        began = time.perf_counter()
        self._socket.sendall(request)
        return began

    def _more(self) -> bytes:
        data = self._socket.recv(1 << 16)
        assert data, "the connection was cut"
        return data


def _whole(answer: bytes) -> int | None:
    """How long an answer is, as soon as its head is there."""
    head, end, _ = answer.partition(b"\r\n\r\n")
    length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), None)
    return len(head) + 4 + int(length.partition(b":")[2]) if end and length else None


def measure(say: Callable[[str], None]) -> bool:
    """Print the figures; False if one is over its limit."""
    with tempfile.TemporaryDirectory() as folder, gateway_rig(Path(folder)) as rig, _serving(_PROVIDER) as provider:
        door = rig.door(f"http://127.0.0.1:{provider}")
        with _serving(_FORWARDER, str(INSIDE), str(door.door.folder / "gateway.sock")) as port:
            direct, through = Way(provider, "none"), Way(port, door.door.token)
            small = _alternate(lambda way: way.ask(_body()), direct, through)
            first = _alternate(lambda way: way.stream(_body(2))[0], direct, through)
            direct.close()
            through.close()
            lost = _many(port, door.door)
        pid = rig.gateway._process.pid
        memory = _peak_mb(pid)
        closed = rig.gateway.close(door.door)
    ok = _report(say, "small request", small, MEDIAN_MS, P95_MS)
    ok &= _report(say, "first byte of a stream", first, FIRST_BYTE_MS, None)
    usage = closed.traffic.usage.completeness
    say(
        f"gateway: {STREAMS} streams at once, {lost} of them not whole, usage {usage.value}; "
        f"its memory {memory} MB at most (limit {MEMORY_MB})"
    )
    return ok and not lost and usage is Completeness.COMPLETE and memory < MEMORY_MB


def _body(stream: int = 0) -> bytes:
    return json.dumps({**BODIES[Api.ANTHROPIC], "max_tokens": stream or 100, "stream": bool(stream)}).encode()


def _alternate(ask: Callable[[Way], float], direct: Way, through: Way) -> tuple[list[float], list[float]]:
    """Milliseconds on either way, one request after another, in turn."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(WARM_UP + REQUESTS):
        for way, times in zip((direct, through), taken, strict=True):
            seconds = ask(way)
            if number >= WARM_UP:
                times.append(seconds * 1000)
    return taken


def _many(port: int, door: Door) -> int:
    """How many of many streams at once differ from what one alone brings."""
    body = _body(CHUNKS)

    def one(_: int) -> bytes:
        way = Way(port, door.token)
        try:
            return way.stream(body)[1].partition(b"\r\n\r\n")[2]
        finally:
            way.close()

    expected = _events(one(0))
    with ThreadPoolExecutor(STREAMS) as pool:
        return sum(_events(got) != expected for got in pool.map(one, range(STREAMS)))


def _events(chunked: bytes) -> bytes:
    """A chunked body without its chunks' sizes, which depend on how it was cut."""
    out = b""
    while chunked:
        size, _, rest = chunked.partition(b"\r\n")
        out, chunked = out + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return out


def _report(
    say: Callable[[str], None], what: str, times: tuple[list[float], list[float]], median: float, p95: float | None
) -> bool:
    direct, through = times
    added = statistics.median(through) - statistics.median(direct)
    tail = _p95(through) - _p95(direct)
    limits = f"limit {median}" + ("" if p95 is None else f" and {p95}")
    say(
        f"gateway: {what}: direct {statistics.median(direct):.2f} ms (p95 {_p95(direct):.2f}), through it "
        f"{statistics.median(through):.2f} ms (p95 {_p95(through):.2f}); "
        f"added {added:.2f} ms, p95 {tail:.2f} ({limits})"
    )
    return added <= median and (p95 is None or tail <= p95)


def _p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def _peak_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024


@contextmanager
def _serving(code: str, *words: str) -> Iterator[int]:
    """A program in a process of its own that prints its port."""
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    sys.exit(0 if measure(lambda line: print(line, flush=True)) else 1)
