"""The scripted provider's server: a thread of its own on a loopback port; each key follows a script of its own."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from aiohttp import web

from harness.errors import UserError
from harness.gateway.records import Api, Endpoint
from harness.gateway.scripted import formats
from harness.gateway.scripted.answer import Problem
from harness.gateway.scripted.desk import Desk
from harness.gateway.scripted.script import Script
from harness.gateway.scripted.serve import serve
from harness.gateway.scripted.served import Served
from harness.gateway.wire import match
from harness.gateway.wire.body import MAX_REQUEST

HOST = "127.0.0.1"
_SINCE = "2025-06-15T15:06:40Z"
_SETTLE_S = 10.0
"""How long the truth waits for requests that are under way."""


class ScriptedProvider:
    """Serves scripts on a port of 127.0.0.1 while it is entered; port 0 is any free one.

    ``log`` is called, from the server's thread, with one line for each request.
    """

    def __init__(self, port: int = 0, log: Callable[[str], None] | None = None) -> None:
        self._port = port
        self._log = log
        self._desks: dict[str, Desk] = {}
        self._lock = threading.Lock()
        self._others: list[str] = []
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="scripted-provider", daemon=True)

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://{HOST}:{self._port}"

    @property
    def others(self) -> tuple[str, ...]:
        """Requests with no key of ours, or to nothing that there is: method, path, and what was wrong."""
        with self._lock:
            return tuple(self._others)

    @property
    def requests(self) -> int:
        """How many requests came, of any kind."""
        with self._lock:
            desks = list(self._desks.values())
        return len(self.others) + sum(desk.requests for desk in desks)

    def add(self, script: Script, key: str | None = None) -> str:
        """Serve a script; the key by which requests name it, a new one unless it is given."""
        key = key or f"sk-scripted-{secrets.token_hex(16)}"
        with self._lock:
            if key in self._desks:
                raise ValueError("two scripts for one key")
            self._desks[key] = Desk(script, key, self._log)
        return key

    def truth(self, key: str) -> tuple[Served, ...]:
        """What was served to a key, in the order of the requests, less what is still under way after ten seconds."""
        return self._desks[key].truth(_SETTLE_S)

    def __enter__(self) -> Self:
        """Start; raises UserError where the port can't be had."""
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            problem = f"can't be listened on: {self._failure.strerror}"
            raise UserError(f"port {self._port}", problem, "name another, or none for any free one")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, whatever is under way."""
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=MAX_REQUEST + 1)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, HOST, self._port)
            await site.start()
            self._port = runner.addresses[0][1]
            self._ready.set()
            await self._stop.wait()
        except OSError as error:
            self._failure = error
        finally:
            self._ready.set()
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        endpoint = match(request.method, request.path_qs)
        key = _key(request)
        with self._lock:
            desk = self._desks.get(key or "")
        if endpoint is not None and desk is not None:
            return await serve(request, endpoint, desk)
        if request.method == "HEAD":
            return self._other(request, web.Response(), "answered with nothing")
        if desk is not None and request.method == "GET" and request.path in {"/v1/models", "/v1beta/models"}:
            return self._other(request, web.json_response(_models(request, desk.script)), "the list of models")
        return self._turned_away(request, endpoint, known=desk is not None)

    def _turned_away(self, request: web.Request, endpoint: Endpoint | None, *, known: bool) -> web.StreamResponse:
        problem = Problem(404, "There is nothing here.") if known else Problem(401, "The key is not valid.")
        body = formats.error(endpoint.api if endpoint else Api.CHAT, problem, "req_scripted")
        return self._other(request, web.json_response(body, status=problem.status), problem.message)

    def _other(self, request: web.Request, response: web.Response, what: str) -> web.Response:
        line = f"{request.method} {request.path}: {response.status}, {what}"
        with self._lock:
            self._others.append(line)
        if self._log is not None:
            self._log(line)
        return response


def _key(request: web.Request) -> str | None:
    """The key of a request, in whichever header a format has it."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else None
    headers = (request.headers.get(name) for name in ("x-api-key", "x-goog-api-key"))
    return next((key for key in (*headers, bearer, request.query.get("key")) if key), None)


def _models(request: web.Request, script: Script) -> dict[str, object]:
    names = script.models or (script.model or "scripted",)
    if request.path.startswith("/v1beta"):
        return {"models": [{"name": f"models/{name}", "displayName": name} for name in names]}
    if "anthropic-version" in request.headers:
        rows = [{"type": "model", "id": name, "display_name": name, "created_at": _SINCE} for name in names]
        return {"data": rows, "has_more": False, "first_id": names[0], "last_id": names[-1]}
    return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "scripted"} for name in names]}
