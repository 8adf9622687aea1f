"""What one attempt may have under way at a time, so that no solver fills the host's memory or disk through its gateway.

A sealed container has its own limits, but what it sends is held by the gateway, outside of them: the same buffer sent
over a thousand connections would be a thousand bodies there.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from aiohttp import web

from harness.gateway.wire.body import MAX_REQUEST

MAX_CONNECTIONS = 512
"""Of one attempt. One more is hung up on."""
SMALL = 256 * 1024
"""Bodies up to this are not counted: connections bound them."""
ROOM = 3 * MAX_REQUEST
"""Bytes of larger bodies that may be under way: read, sent on, or not yet written down."""
_STEP = 1024 * 1024


class Room:
    """Bytes that are left. All calls come from one event loop."""

    def __init__(self, size: int = ROOM) -> None:
        self._left = size
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take(self, size: int) -> bool:
        """Whether there was room, which is then taken."""
        if size > self._left:
            return False
        self._left -= size
        return True

    async def wait(self, size: int) -> None:
        """Take room once there is enough of it."""
        while not self.take(size):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    def give(self, size: int) -> None:
        """Give room back."""
        self._left += size
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)


class Share:
    """What of an attempt's room one request has."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.size = 0

    async def begin(self, stated: int) -> None:
        """Wait for room for a body of a stated length; one that states none takes it as it comes."""
        if stated > SMALL:
            await self._room.wait(stated)
            self.size = stated

    def holds(self, size: int) -> bool:
        """Whether a body of unstated length may grow to *size*. It does not wait: what others wait for, it may hold."""
        if size <= max(SMALL, self.size):
            return True
        if not self._room.take(_STEP):
            return False
        self.size += _STEP
        return self.holds(size)

    def end(self) -> None:
        """Give it back."""
        size, self.size = self.size, 0
        if size:
            self._room.give(size)


class Listener(web.Server):
    """A server of at most :data:`MAX_CONNECTIONS`, which tells of requests that can't be read as HTTP.

    Args:
        handler: serves the others.
        unreadable: is told the parser's words.
        head_s: how long a request's head may take from its first byte. The server itself waits for the rest of
            a head as long as for a next request.
        more: as :class:`aiohttp.web.Server` takes them.
    """

    def __init__(self, handler: Any, unreadable: Callable[[str], None], head_s: float, **more: Any) -> None:
        super().__init__(handler, **more)
        self.unreadable = unreadable
        self.head_s = head_s
        self._more = more

    def __call__(self) -> web.RequestHandler:
        """A new connection's protocol."""
        return _Connection(self, **self._more)


class _Connection(web.RequestHandler):
    __slots__ = ("_head", "_listener")

    def __init__(self, listener: Listener, **more: Any) -> None:
        super().__init__(listener, loop=asyncio.get_running_loop(), **more)
        self._listener = listener
        self._head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if len(self._listener.connections) > MAX_CONNECTIONS and isinstance(transport, asyncio.Transport):
            transport.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._watch_head(waiting=False)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Still waiting for a request after some of it came: its head is not whole.
        self._watch_head(waiting=self._waiter is not None and not self._waiter.done())

    def _watch_head(self, *, waiting: bool) -> None:
        if waiting and self._head is None:
            self._head = asyncio.get_running_loop().call_later(self._listener.head_s, self._too_slow)
        elif not waiting and self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        self._listener.unreadable(f"its head was not whole after {self._listener.head_s:g} s")
        self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Of a request that could not be read nothing is said but that."""
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        self._listener.unreadable(str(message or exc or ""))
        answer = web.Response(status=status, headers={"server": "gateway"}, text="refused by the gateway: unreadable")
        answer.force_close()
        return answer
