"""Puts an answer on the wire: whole, streamed, compressed, cut short, or not at all."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable

from aiohttp import web

from harness.gateway.records import Api
from harness.gateway.scripted import formats
from harness.gateway.scripted.answer import Problem, compact

_JSON = "application/json"
_ID_HEADER = {Api.ANTHROPIC: "request-id", Api.RESPONSES: "x-request-id", Api.CHAT: "x-request-id"}
_QUOTA = {
    Api.ANTHROPIC: {"anthropic-ratelimit-requests-limit": "1000", "anthropic-ratelimit-requests-remaining": "999"},
    Api.RESPONSES: {"x-ratelimit-limit-requests": "1000", "x-ratelimit-remaining-requests": "999"},
    Api.CHAT: {"x-ratelimit-limit-requests": "1000", "x-ratelimit-remaining-requests": "999"},
}


class Sender:
    """Answers one request. ``all_sent`` is True once the client was sent everything that it was to get."""

    def __init__(self, request: web.Request, api: Api, name: str, *, gzip: bool) -> None:
        self.api = api
        self.all_sent = False
        self._request = request
        self._id = f"req_{name}"
        self._gzip = gzip and "gzip" in request.headers.get("Accept-Encoding", "")

    def _headers(self, kind: str) -> dict[str, str]:
        named = {_ID_HEADER[self.api]: self._id} if self.api in _ID_HEADER else {}
        coding = {"Content-Encoding": "gzip"} if self._gzip else {}
        return {"Content-Type": kind} | named | _QUOTA.get(self.api, {}) | coding

    def _coded(self, parts: Iterable[bytes]) -> Iterable[bytes]:
        """The parts as they go out: compressed, each is flushed, so that none waits for the next."""
        if not self._gzip:
            yield from parts
            return
        pack = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
        for part in parts:
            yield pack.compress(part) + pack.flush(zlib.Z_SYNC_FLUSH)
        yield pack.flush()

    async def body(
        self, data: bytes, kind: str = _JSON, status: int = 200, more: dict[str, str] | None = None
    ) -> web.StreamResponse:
        """A whole body."""
        coded = b"".join(self._coded([data]))
        return await self._send(web.Response(body=coded, status=status, headers=self._headers(kind) | (more or {})))

    async def _send(self, response: web.Response) -> web.StreamResponse:
        await response.prepare(self._request)
        # Marked before its last byte is out: a client may leave as soon as it has it.
        self.all_sent = True
        await response.write_eof()
        return response

    async def problem(self, problem: Problem, after_s: int | None) -> web.StreamResponse:
        """An error."""
        more = {} if after_s is None else {"retry-after": str(after_s)}
        body = compact(formats.error(self.api, problem, self._id)).encode()
        return await self.body(body, status=problem.status, more=more)

    async def stream(self, parts: list[bytes], wait_s: float, *, events: bool) -> web.StreamResponse:
        """A stream, to its end."""
        response = await self._open(events=events)
        coded = list(self._coded(parts))
        for at, part in enumerate(coded):
            if wait_s:
                await asyncio.sleep(wait_s)
            self.all_sent = at == len(coded) - 1
            await response.write(part)
        await response.write_eof()
        return response

    async def _open(self, *, events: bool) -> web.StreamResponse:
        kind = "text/event-stream; charset=utf-8" if events else _JSON
        response = web.StreamResponse(headers=self._headers(kind) | {"Cache-Control": "no-cache"})
        await response.prepare(self._request)
        return response

    async def cut_stream(self, parts: list[bytes], *, events: bool) -> web.StreamResponse:
        """The beginning of a stream, and the end of the connection."""
        response = await self._open(events=events)
        for part in self._coded(parts):
            await response.write(part)
        return self._hang_up(response)

    async def cut_body(self, data: bytes, most: int) -> web.StreamResponse:
        """The beginning of a body of known length, and the end of the connection."""
        coded = b"".join(self._coded([data]))
        response = web.StreamResponse(headers=self._headers(_JSON))
        response.content_length = len(coded)
        await response.prepare(self._request)
        await response.write(coded[:most])
        return self._hang_up(response)

    def nothing(self) -> web.StreamResponse:
        """The end of the connection."""
        return self._hang_up(web.Response())

    def _hang_up(self, response: web.StreamResponse) -> web.StreamResponse:
        if self._request.transport is not None:
            self._request.transport.close()
        return response
