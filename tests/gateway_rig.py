"""A small upstream of the tests' own, a gateway before it, and clients on a door's socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from harness.gateway.access import Access, Auth, Billing, Budget, Closed, Upstream
from harness.gateway.client import Door, Gateway
from harness.gateway.records import Api, TraceLine
from harness.gateway.settings import Settings
from harness.store import LocalStore
from harness.traffic import read_trace

KEY = "sk-real-0123456789-abcdefghij/KLMNOP+qrstuvwxyz"
MODEL = "model-1"
PATHS = {
    Api.ANTHROPIC: "/v1/messages",
    Api.RESPONSES: "/v1/responses",
    Api.CHAT: "/v1/chat/completions",
    Api.GEMINI: f"/v1beta/models/{MODEL}:generateContent",
}
AUTH = {
    Api.ANTHROPIC: Auth.X_API_KEY,
    Api.RESPONSES: Auth.BEARER,
    Api.CHAT: Auth.BEARER,
    Api.GEMINI: Auth.X_GOOG_API_KEY,
}
BODIES: Mapping[Api, dict[str, Any]] = {
    Api.ANTHROPIC: {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]},
    Api.RESPONSES: {"model": MODEL, "input": "hello", "store": False},
    Api.CHAT: {"model": MODEL, "messages": [{"role": "user", "content": "hello"}]},
    Api.GEMINI: {"contents": [{"parts": [{"text": "hello"}]}]},
}
ANSWERS: Mapping[Api, dict[str, Any]] = {
    Api.ANTHROPIC: {
        "id": "msg_1",
        "type": "message",
        "model": "served-1",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 0,
        },
    },
    Api.RESPONSES: {
        "id": "resp_1",
        "model": "served-1",
        "status": "completed",
        "output": [],
        "usage": {"input_tokens": 13, "output_tokens": 5, "total_tokens": 18},
    },
    Api.CHAT: {
        "id": "chat_1",
        "model": "served-1",
        "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
        "usage": {"prompt_tokens": 13, "completion_tokens": 5, "total_tokens": 18},
    },
    Api.GEMINI: {
        "responseId": "gen_1",
        "modelVersion": "served-1",
        "candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "hi"}]}}],
        "usageMetadata": {"promptTokenCount": 13, "candidatesTokenCount": 5, "totalTokenCount": 18},
    },
}


def events(*values: Any) -> bytes:
    """A stream's bytes."""
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in values)


ANTHROPIC_STREAM: tuple[dict[str, Any], ...] = (
    {
        "type": "message_start",
        "message": {"id": "msg_s", "model": "served-1", "usage": {"input_tokens": 10, "output_tokens": 1}},
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
)


@dataclass
class Seen:
    """One request as the upstream got it."""

    path: str
    headers: dict[str, str]
    body: bytes


Play = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@dataclass
class FakeUpstream:
    """An aiohttp server in a thread: ``play`` answers, ``seen`` has what came."""

    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    play: Play | None = None

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Note the request and answer it: by ``play``, else with the format's usual answer."""
        body = b"".join([chunk async for chunk in request.content.iter_any()])
        self.seen.append(Seen(request.path_qs, {k.lower(): v for k, v in request.headers.items()}, body))
        if self.play is not None:
            return await self.play(request)
        api = next((api for api, path in PATHS.items() if request.path == path), Api.CHAT)
        return web.json_response(ANSWERS[api])


@contextmanager
def upstream_server(play: Play | None = None, ssl_context: Any = None) -> Iterator[FakeUpstream]:
    """Serve on a free port of the loopback until the block ends."""
    fake = FakeUpstream(play=play)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.ServerRunner:
        runner = web.ServerRunner(web.Server(fake.handle, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    fake.url = f"{'https' if ssl_context else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def connected(path: Path, timeout: float = 60) -> socket.socket:
    """A connection to a unix socket, whose path may be longer than such paths can be."""
    folder = os.open(path.parent, os.O_PATH)
    one = socket.socket(socket.AF_UNIX)
    try:
        one.settimeout(timeout)
        one.connect(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        one.close()
        raise
    finally:
        os.close(folder)
    return one


def playing(*chunks: bytes, status: int = 200, content_type: str = "text/event-stream", cut: bool = False, **more: str):
    """An answer of these chunks; ``cut`` hangs up after them."""

    async def play(request: web.BaseRequest) -> web.StreamResponse:
        answer = web.StreamResponse(status=status, headers={"content-type": content_type, **more})
        await answer.prepare(request)
        for chunk in chunks:
            await answer.write(chunk)
        if cut:
            request.transport.close()
        return answer

    return play


class SocketConnection(http.client.HTTPConnection):
    """A client on a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("127.0.0.1:8080")
        self.path = path

    def connect(self) -> None:
        self.sock = connected(self.path)


@dataclass
class Reply:
    """What a client got; ``cut`` if the answer broke off."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class DoorRig:
    """A door, and requests on it."""

    gateway: Gateway
    door: Door
    access: Access
    store: LocalStore

    def connection(self) -> SocketConnection:
        return SocketConnection(self.door.folder / "gateway.sock")

    def send(
        self,
        method: str,
        path: str,
        body: bytes | dict[str, Any] = b"",
        headers: Mapping[str, str] | None = None,
        *,
        token: str | None = None,
    ) -> Reply:
        """One request on a connection of its own, with the door's token."""
        connection = self.connection()
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"authorization": f"Bearer {token or self.door.token}", "content-type": "application/json"}
        connection.request(method, path, data or None, given | dict(headers or {}))
        answer = connection.getresponse()
        try:
            got, cut = answer.read(), False
        except (http.client.IncompleteRead, ConnectionError) as error:
            got, cut = getattr(error, "partial", b""), True
        connection.close()
        return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, got, cut)

    def ask(self, api: Api, **more: Any) -> Reply:
        """One usual request of a format."""
        return self.send("POST", PATHS[api], {**BODIES[api], **more})

    def close(self) -> tuple[Closed, tuple[TraceLine, ...]]:
        """Close the door; its trace, read back with its chain checked."""
        closed = self.gateway.close(self.door)
        return closed, read_trace(self.store, closed.trace)


@dataclass
class GatewayRig:
    """A gateway and its store."""

    gateway: Gateway
    store: LocalStore
    folder: Path

    def access(self, url: str, **more: Any) -> Access:
        """Every format of an upstream, and one model."""
        upstream = Upstream(
            name="fake", url=url, auth=more.pop("auth", AUTH), billing=more.pop("billing", Billing.API), credential="K"
        )
        return Access(**{"upstream": upstream, "apis": tuple(Api), "models": (MODEL,), "budget": Budget(), **more})

    def door(self, url: str, *, key: str | None = None, **more: Any) -> DoorRig:
        """A door to an upstream."""
        access = self.access(url, **more)
        return DoorRig(self.gateway, self.gateway.open(access, key=key), access, self.store)


@contextmanager
def gateway_rig(folder: Path, **settings: int) -> Iterator[GatewayRig]:
    """A gateway process in a folder."""
    store = LocalStore(folder / "blobs")
    with Gateway(folder / "blobs", folder / "run", {"fake": KEY}, Settings(**settings)) as gateway:
        yield GatewayRig(gateway, store, folder)
