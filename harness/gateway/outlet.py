"""The client's side of an exchange: what it is sent, and whether it is still there to get it."""

from __future__ import annotations

import asyncio
import time

import aiohttp
from aiohttp import web

_SOON_S = 0.005
_STALLED_S = 120
"""A client that neither sends what it began nor takes what it is sent for so long is as good as gone."""


class Outlet:
    """Towards one client. What it notices goes to *notes*."""

    def __init__(self, request: web.BaseRequest, notes: list[str]) -> None:
        self._request = request
        self._notes = notes
        self.left_at: float | None = None
        self.drained = 0
        """Bytes that came once it had left."""
        self.waiting_since: float | None = None
        """Since when it is to send or take something."""

    @property
    def gone(self) -> bool:
        """Whether it has left."""
        transport = self._request.transport
        return self.left_at is not None or transport is None or transport.is_closing()

    def watch(self, now: float) -> None:
        """Called about once a second: notice one that left or stalled."""
        transport = self._request.transport
        if self.waiting_since is not None and now - self.waiting_since > _STALLED_S and transport is not None:
            self._notes.append("client_stalled")
            self.waiting_since = None
            transport.abort()
        if self.gone:
            self.leave()

    def leave(self) -> None:
        """It has left."""
        if self.left_at is None:
            self.left_at = time.monotonic()
            self._notes.append("client_left")

    async def begin(self, response: web.StreamResponse, content: aiohttp.StreamReader) -> bytes:
        """Send the head, in one piece with the first of the body if that comes soon; what came of the body so far.

        Raises:
            ClientError, OSError: the upstream broke off; the head was sent.
        """
        chunk: bytes | None = None
        broken: Exception | None = None
        try:
            async with asyncio.timeout(_SOON_S) as soon:
                chunk = await content.readany()
        except (aiohttp.ClientError, OSError) as error:
            broken = None if soon.expired() else error
        # aiohttp's own way to join a head with what is written next; without it they are two packets.
        response._send_headers_immediately = chunk is None
        try:
            await response.prepare(self._request)
        except ConnectionError:
            self.leave()
        if broken is not None:
            raise broken
        return await content.readany() if chunk is None else chunk

    async def send(self, response: web.StreamResponse, piece: bytes) -> None:
        """Send the next bytes of a body, if anybody is there."""
        if self.left_at is not None:
            self.drained += len(piece)
            return
        if not piece:
            return
        self.waiting_since = time.monotonic()
        try:
            await response.write(piece)
        except ConnectionError:
            self.leave()
        self.waiting_since = None

    async def end(self, response: web.StreamResponse, rest: bytes, *, cut: bool) -> None:
        """Say the rest. An answer that was cut must not look whole: its connection goes instead."""
        try:
            if isinstance(response, web.Response):
                await response.prepare(self._request)
            elif rest:
                await self.send(response, rest)
            if cut:
                response.force_close()
                if self._request.transport is not None:
                    self._request.transport.close()
            else:
                await response.write_eof()
        except ConnectionError:
            self.leave()
