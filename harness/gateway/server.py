"""The gateway process: doors by name, the ways to the upstreams, and the calls of the run that it belongs to."""

from __future__ import annotations

import asyncio
import gc
import itertools
import resource
import secrets
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from harness.errors import TrialboxError
from harness.gateway.access import Access, Closed, Upstream
from harness.gateway.control import Call, Close, Forget, Open, Opened, Play, Reply, Start, Truth, plain
from harness.gateway.door import Door
from harness.gateway.upstream import Line, trust
from harness.store import LocalStore

if TYPE_CHECKING:
    from harness.gateway.scripted.provider import ScriptedProvider
    from harness.gateway.scripted.script import Script
    from harness.gateway.scripted.served import Served

_MAX_LINE = 1 << 26
"""A call that plays a script holds it."""
_WATCH_S = 1.0
_WRITERS = 4
_SWITCH_S = 0.001
"""How long a writing thread may keep the interpreter from requests. Python's own 5 ms is long for a large body; with a
tenth of this the writer breaks into requests as often as they into it, which costs each of them 0.15 ms."""


class Service:
    """All doors of one run."""

    def __init__(self, start: Start) -> None:
        self._settings = start.settings
        self._keys = {name: key.get_secret_value() for name, key in start.keys.items()}
        self._folder = Path(start.folder)
        self._root = Path(start.store)
        self._store = LocalStore(self._root)
        self._writers = [ThreadPoolExecutor(1, thread_name_prefix="writer") for _ in range(_WRITERS)]
        self._next_writer = itertools.cycle(self._writers)
        self._heavy = asyncio.Semaphore(1)
        self._trust = trust(start.certificates)
        self._lines: dict[str, Line] = {}
        self._doors: dict[str, Door] = {}
        self._provider: ScriptedProvider | None = None

    async def open(self, access: Access, key: str | None, place: str | None = None) -> Opened:
        """Make a door and serve it, in a folder of its own or at a place that is there.

        Raises:
            OSError: its folder or its socket can't be made.
        """
        line = self._line(access.upstream)
        real = self._keys.get(access.upstream.name, "") if key is None else key
        name = secrets.token_hex(8)
        store = self._store if place is None else LocalStore(self._root / name)
        folder = self._folder / name if place is None else Path(place)
        trace = self._folder / f"{name}.jsonl"
        door = Door(
            name, folder, trace, access, real, line, store, next(self._next_writer), self._settings, self._heavy
        )
        try:
            await door.open()
        except OSError:
            await door.discard()
            raise
        self._doors[door.id] = door
        return Opened(id=door.id, folder=str(door.folder), token=door.token)

    async def close(self, name: str) -> Closed:
        """Close a door for good.

        Raises:
            KeyError: there is none of this name.
            StorageError: its trace can't be stored.
        """
        return await self._doors.pop(name).close()

    async def forget(self, name: str) -> None:
        """Remove the store of a door that is closed.

        Raises:
            KeyError: it is not.
        """
        if name in self._doors or not name.isalnum():
            raise KeyError(name)
        await asyncio.to_thread(shutil.rmtree, self._root / name, ignore_errors=True)

    async def play(self, script: Script, key: str) -> str:
        """Answer by a script; the scripted provider's base URL. It runs from the first of them on.

        Raises:
            UserError: it can't be started.
        """
        from harness.gateway.scripted.provider import ScriptedProvider

        if self._provider is None:
            self._provider = await asyncio.to_thread(ScriptedProvider().__enter__)
        self._provider.add(script, key)
        return self._provider.url

    async def truth(self, key: str) -> tuple[Served, ...]:
        """What was served to a key.

        Raises:
            KeyError: no script is played to it.
        """
        if self._provider is None:
            raise KeyError(key)
        return await asyncio.to_thread(self._provider.truth, key)

    async def watch(self) -> None:
        """Look after clients that left, for ever."""
        while True:
            await asyncio.sleep(_WATCH_S)
            now = asyncio.get_running_loop().time()
            for door in list(self._doors.values()):
                for exchange in list(door.exchanges):
                    exchange.watch(now)

    async def end(self) -> None:
        """Let everything go; traces of doors that nobody closed stay as files."""
        for line in self._lines.values():
            await line.close()
        for writer in self._writers:
            writer.shutdown()
        if self._provider is not None:
            await asyncio.to_thread(self._provider.__exit__, None, None, None)

    def _line(self, upstream: Upstream) -> Line:
        known = self._lines.get(upstream.url)
        if known is None:
            known = self._lines[upstream.url] = Line(upstream, self._settings, self._trust)
        return known


async def serve() -> None:
    """Take calls from standard input until it ends."""
    _allow_many_files()
    sys.setswitchinterval(_SWITCH_S)
    calls = await _standard_input()
    start = Start.model_validate_json(await calls.readline())
    service = Service(start)
    # What is there now stays: the collector need not look at it again while requests wait.
    gc.freeze()
    watcher = asyncio.create_task(service.watch())
    under_way: set[asyncio.Task[None]] = set()
    _say(Reply(number=0))
    while line := await calls.readline():
        task = asyncio.create_task(_take(service, line))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    watcher.cancel()
    await service.end()


async def _take(service: Service, line: bytes) -> None:
    call = Call.model_validate_json(line).call
    number = call.number
    try:
        match call:
            case Open():
                key = call.key.get_secret_value() if call.key is not None else None
                reply = Reply(number=number, opened=await service.open(call.access, key, call.place))
            case Close():
                reply = Reply(number=number, closed=await service.close(call.door))
            case Forget():
                await service.forget(call.door)
                reply = Reply(number=number)
            case Play():
                reply = Reply(number=number, played=await service.play(call.script, call.key.get_secret_value()))
            case Truth():
                reply = Reply(number=number, truth=await service.truth(call.key.get_secret_value()))
            case never:
                assert_never(never)
    except KeyError:
        reply = Reply(number=number, problem="it is closed already")
    except (OSError, TrialboxError, ValueError) as error:
        reply = Reply(number=number, problem=str(error).splitlines()[0])
    _say(reply)


def _say(reply: Reply) -> None:
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(plain(reply))
        sys.stdout.buffer.flush()


async def _standard_input() -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=_MAX_LINE, loop=loop)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), sys.stdin)
    return reader


def _allow_many_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
