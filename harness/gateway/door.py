"""One attempt's way in: its socket, its token, its budget and its trace.

A door is a folder with one unix socket, which only this attempt's container gets to see. Whoever speaks on the socket
and gives the token is the attempt.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

from aiohttp import web

from harness.errors import StorageError
from harness.gateway import advisory
from harness.gateway.access import Access, Closed
from harness.gateway.bodies import IN_MEMORY, MAX_ATTEMPT, Spool, keep
from harness.gateway.budget import Purse
from harness.gateway.decode import text
from harness.gateway.deltas import Deltas
from harness.gateway.exchange import Exchange
from harness.gateway.records import Denial, TraceLine
from harness.gateway.redact import Redactor
from harness.gateway.room import Listener, Room
from harness.gateway.settings import Settings
from harness.gateway.trace import MAX_LINES, Trace
from harness.gateway.upstream import Line
from harness.records import BlobRef
from harness.store import LocalStore

SOCKET = "gateway.sock"
TRACE_TYPE = "application/x-ndjson"
_REMEMBERED = 256
_KEY = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-.~+/=:]{20,500}")
"""What may be somebody's key: given as one, it is taken out of the stored bodies. A word that is none stays, since a
client could hide by it what it said."""
_MAX_KEYS = 8
_POLL_S = 0.02
_LAST_S = 2.0
_MAX_BACKLOG = 256
"""Exchanges that may wait to be written down; then requests wait for the disk after all."""
_KEEP_ALIVE_S = 3_600.0


class Door:
    """A served socket. All calls come from the gateway's event loop.

    Args:
        name: its own.
        folder: where its socket is to be; made unless it is there, in which case it stays when the door is closed.
        trace: the file of its lines, outside of that.
        access: what the attempt may do.
        key: the real key; empty where the upstream needs none.
        line: the way to the upstream.
        store: where bodies and the trace go.
        writer: one thread, which writes them down in order.
        settings: how patient to be.
        heavy: held while a large body is parsed.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        trace: Path,
        access: Access,
        key: str,
        line: Line,
        store: LocalStore,
        writer: ThreadPoolExecutor,
        settings: Settings,
        heavy: asyncio.Semaphore,
    ) -> None:
        self.id = name
        self.token = "tb-" + secrets.token_hex(24)
        self.access, self.key, self.line, self.settings, self.heavy = access, key, line, settings, heavy
        self.folder = folder
        self._lent = folder.is_dir()
        if not self._lent:
            self.folder.mkdir(mode=0o755)
        self.purse = Purse(access.budget)
        self.room = Room()
        self.scrub = Redactor([key])
        self._redactor = Redactor([key, self.token])
        self.trace = Trace(trace, self._redactor)
        self.exchanges: dict[Exchange, asyncio.Task[None] | None] = {}
        self._store, self._writer = store, writer
        self._deltas = Deltas(store)
        self._kept = 0
        self._failed: OrderedDict[bytes, None] = OrderedDict()
        self._waiting = 0
        self._backlog: Future[None] = Future()
        self._backlog.set_result(None)
        self._problem = ""
        self._told = advisory.Teller(self.trace)
        self._runner = web.ServerRunner(
            Listener(self._handle, self._unreadable, settings.head_s, access_log=None, keepalive_timeout=_KEEP_ALIVE_S),
            shutdown_timeout=1.0,
        )

    async def open(self) -> None:
        """Serve. The socket's path is kept short, by way of the current folder: paths of sockets have 108 bytes."""
        await self._runner.setup()
        with suppress(FileNotFoundError):
            (self.folder / SOCKET).unlink()
        short = os.path.relpath(self.folder / SOCKET)
        await web.UnixSite(self._runner, short).start()
        # The solver's user is another one than ours; only its container has the folder.
        (self.folder / SOCKET).chmod(0o666)

    async def discard(self) -> None:
        """Undo what is there of a door that could not be opened."""
        await self._runner.cleanup()
        self.trace.close()
        self.trace.path.unlink(missing_ok=True)
        self._clear()

    def _clear(self) -> None:
        if not self._lent:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def close(self) -> Closed:
        """No more requests; read on what is under way, within bounds; the trace into the store; the folder away."""
        with suppress(FileNotFoundError):
            (self.folder / SOCKET).unlink()
        for site in list(self._runner.sites):
            await site.stop()
        await self._wait(self.settings.drain_s)
        for exchange in list(self.exchanges):
            exchange.give_up()
        await self._wait(_LAST_S)
        for task in list(self.exchanges.values()):
            if task is not None:
                task.cancel()
        await self._wait(_LAST_S)
        await self._runner.cleanup()
        self.line.breaker.forget(self.id)
        await self._written()
        self.trace.close()
        if self.trace.full:
            self._problem = self._problem or f"over {MAX_LINES} requests: the later ones are not in it"
        blob = await asyncio.to_thread(_put_file, self._store, self.trace.path)
        self.trace.path.unlink()
        self._clear()
        return Closed(trace=blob, traffic=self.trace.short(), problem=self._problem)

    async def _wait(self, seconds: float) -> None:
        """Wait for what is under way; a task is no sign, since it lives as long as its connection."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self.exchanges and loop.time() < until:
            await asyncio.sleep(_POLL_S)

    def repeats(self, body: bytes) -> bool:
        """Whether this very body was sent before and ended in a fault."""
        return bool(self._failed) and sha256(body).digest() in self._failed

    def remember(self, body: bytes, *, failed: bool) -> None:
        """Keep in mind how a body ended."""
        if not failed and not self._failed:
            return
        name = sha256(body).digest()
        self._failed.pop(name, None)
        if failed:
            self._failed[name] = None
            if len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST" and request.raw_path == advisory.PATH:
            await self._told.take(request)
            return web.Response(status=HTTPStatus.NO_CONTENT)
        exchange = Exchange(self, request)
        self.exchanges[exchange] = asyncio.current_task()
        try:
            return await exchange.run()
        finally:
            del self.exchanges[exchange]
            # Beside the client's next request, which must not wait for the disk.
            self._backlog = self._writer.submit(self._write, exchange)
            if exchange.share.size:
                loop, share = asyncio.get_running_loop(), exchange.share
                self._backlog.add_done_callback(lambda _: loop.call_soon_threadsafe(share.end))
            self._waiting += 1
            if self._waiting > _MAX_BACKLOG:
                await self._written()

    def _unreadable(self, detail: str) -> None:
        """Note a request that is no HTTP, or that two parsers may read differently."""
        at_us = time.time_ns() // 1000
        denial = Denial(rule="unreadable", detail=text(detail.strip()) or "")
        line = TraceLine(seq=0, prev=None, at_us=at_us, method="", host="", path="", status=400, denial=denial)
        self._backlog = self._writer.submit(self._write_note, line)

    async def _written(self) -> None:
        """Wait until everything so far is written: the writer takes one after the other."""
        self._waiting = 0
        await asyncio.wrap_future(self._backlog)

    def _write(self, exchange: Exchange) -> None:
        foreign = [one for one in exchange.given if one != self.token and _KEY.fullmatch(one)][:_MAX_KEYS]
        if foreign:
            exchange.notes.append("another_key")
        redactor = Redactor([self.key, self.token, *foreign]) if foreign else self._redactor
        sent = self._keep(exchange, exchange.sent, redactor, "application/json")
        received = self._keep(exchange, exchange.received, redactor, exchange.content_type)
        if self._write_line(exchange.line(sent, received), retry=exchange.retry) and sent is not None:
            self._deltas.written()

    def _write_note(self, line: TraceLine) -> None:
        self._write_line(line, retry=False)

    def _write_line(self, line: TraceLine, *, retry: bool) -> bool:
        if self.trace.full:
            return False
        try:
            self.trace.write(line, retry=retry)
        except OSError as error:
            self._problem = f"a line could not be written: {error.strerror}"
            return False
        return True

    def _keep(self, exchange: Exchange, spool: Spool | None, redactor: Redactor, kind: str) -> BlobRef | None:
        if spool is None or spool.size == 0:
            return None
        if self._kept + spool.size > MAX_ATTEMPT:
            spool.close()
            exchange.notes.append("body_not_kept")
            return None
        if spool.cut:
            exchange.notes.append("body_cut")
        plain = kind.partition(";")[0].strip().lower()
        known = plain if plain in {"application/json", "text/event-stream"} else "application/octet-stream"
        deltas = self._deltas if spool is exchange.sent else None
        try:
            ref = keep(self._store, spool, redactor, known, deltas)
        except StorageError as error:
            self._problem = f"a body could not be stored: {error.problem}"
            return None
        self._kept += ref.size
        return ref


def _put_file(store: LocalStore, path: Path) -> BlobRef:
    with path.open("rb") as lines:
        return store.put_stream(iter(lambda: lines.read(IN_MEMORY), b""), TRACE_TYPE)
