"""Notes what ignores the gateway: names asked of a resolver, and hosts that HTTP and TLS clients want to reach.

Every name is answered with this very container, so that the client comes on and says what it wants. What is seen is
told to the gateway; it is advisory, for whoever runs in here can end this.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

HOST = "127.0.0.1"
DNS_PORT, HTTP_PORT, TLS_PORT = 53, 80, 443
PATH = "/.gateway/sinkhole"
_MAX_HEAD = 16 * 1024
_MAX_NAMES = 500
_READ_S = 5
_TELL_S = 0.2
_A, _IN = 1, 1


class Notes:
    """What was seen since it was last told."""

    def __init__(self) -> None:
        self.counts = {"dns": 0, "http": 0, "tls": 0}
        self.new: list[tuple[str, str]] = []
        self._seen: set[tuple[str, str]] = set()
        self.changed = asyncio.Event()

    def add(self, kind: str, name: str) -> None:
        """Take one sighting; ``name`` is empty where there was none."""
        self.counts[kind] += 1
        name = "".join(char for char in name.lower() if char.isprintable())[:253]
        if name and (kind, name) not in self._seen and len(self._seen) < _MAX_NAMES:
            self._seen.add((kind, name))
            self.new.append((kind, name))
        self.changed.set()

    def take(self) -> bytes:
        """What is to be told, as JSON; it counts as told from now on."""
        new, self.new = self.new[:100], self.new[100:]
        body = json.dumps({**self.counts, "seen": new}).encode()
        self.counts = dict.fromkeys(self.counts, 0)
        if not self.new:
            self.changed.clear()
        return body


# ---------------------------------------------------------------------------------------------------------------- DNS


def question(packet: bytes) -> tuple[str, int, int] | None:
    """The name and type that a DNS query asks for, and where the question ends; None if it is no query."""
    if len(packet) < 17 or packet[2] & 0x80 or packet[4:6] == b"\0\0":
        return None
    labels: list[str] = []
    at = 12
    while at < len(packet) and packet[at]:
        size = packet[at]
        if size > 63 or at + 1 + size >= len(packet):
            return None
        labels.append(packet[at + 1 : at + 1 + size].decode("ascii", "replace"))
        at += 1 + size
    if at + 5 > len(packet):
        return None
    return ".".join(labels), struct.unpack(">H", packet[at + 1 : at + 3])[0], at + 5


def answer(packet: bytes, kind: int, end: int) -> bytes:
    """An answer: this container for an address, nothing for any other type."""
    address = kind == _A
    flags = bytes([0x80 | (packet[2] & 0x79), 0x80])
    head = packet[:2] + flags + struct.pack(">HHHH", 1, int(address), 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", _A, _IN, 0, 4) + socket.inet_aton(HOST)
    return head + packet[12:end] + (record if address else b"")


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        asked = question(data)
        if asked is not None:
            self._notes.add("dns", asked[0])
            self._transport.sendto(answer(data, asked[1], asked[2]), addr)


async def _dns_stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notes: Notes) -> None:
    while True:
        size = struct.unpack(">H", await reader.readexactly(2))[0]
        packet = await reader.readexactly(size)
        asked = question(packet)
        if asked is None:
            return
        notes.add("dns", asked[0])
        said = answer(packet, asked[1], asked[2])
        writer.write(struct.pack(">H", len(said)) + said)
        await writer.drain()


# ------------------------------------------------------------------------------------------------------- HTTP and TLS


def http_host(head: bytes) -> str:
    """The host that a request's head names; empty if it names none."""
    for line in head.split(b"\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"host":
            return value.strip().decode("latin-1")
    return ""


def server_name(hello: bytes) -> str:
    """The server name in a TLS client's first record; empty if there is none, or if it is no such record."""
    try:
        return _server_name(hello)
    except (IndexError, struct.error):
        return ""


def _server_name(hello: bytes) -> str:
    if hello[0] != 22 or hello[5] != 1:
        return ""
    at = 43
    at += 1 + hello[at]
    at += 2 + struct.unpack(">H", hello[at : at + 2])[0]
    at += 1 + hello[at]
    end = at + 2 + struct.unpack(">H", hello[at : at + 2])[0]
    at += 2
    while at + 4 <= end:
        kind, size = struct.unpack(">HH", hello[at : at + 4])
        if kind == 0:
            length = struct.unpack(">H", hello[at + 7 : at + 9])[0]
            return hello[at + 9 : at + 9 + length].decode("ascii", "replace")
        at += 4 + size
    return ""


async def _http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notes: Notes) -> None:
    head = await _until(reader, lambda data: b"\r\n\r\n" in data or b"\n\n" in data)
    notes.add("http", http_host(head))
    writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    await writer.drain()


async def _tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notes: Notes) -> None:
    hello = await _until(reader, lambda data: len(data) >= 5 and len(data) >= 5 + struct.unpack(">H", data[3:5])[0])
    notes.add("tls", server_name(hello))
    writer.write(b"\x15\x03\x01\x00\x02\x02\x31")  # a fatal alert: access denied
    await writer.drain()


async def _until(reader: asyncio.StreamReader, whole: Callable[[bytes], bool]) -> bytes:
    data = b""
    while not whole(data) and len(data) < _MAX_HEAD:
        more = await reader.read(4096)
        if not more:
            break
        data += more
    return data


_Work = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Notes], Awaitable[None]]


def _handler(work: _Work, notes: Notes) -> Any:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
            await asyncio.wait_for(work(reader, writer, notes), _READ_S)
        writer.close()

    return handle


# ------------------------------------------------------------------------------------------------------------ serving


async def tell(notes: Notes, path: str) -> None:
    """Post what was seen to the gateway once."""
    body = notes.take()
    head = f"POST {PATH} HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(head.encode() + body)
    await writer.drain()
    await reader.read()
    writer.close()


async def keep_telling(notes: Notes, path: str) -> None:
    """Post what was seen, soon after it was, until cancelled."""
    while True:
        await notes.changed.wait()
        try:
            await asyncio.wait_for(tell(notes, path), _READ_S)
        except (OSError, asyncio.TimeoutError):  # noqa: UP041 - another one before 3.11
            return
        await asyncio.sleep(_TELL_S)


async def start(notes: Notes) -> list[str]:
    """Listen where it can be listened: a container may not allow low ports. Returns the ports that are served."""
    served = []
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        await loop.create_datagram_endpoint(lambda: _Datagrams(notes), local_addr=(HOST, DNS_PORT))
        served.append("53/udp")
    works: tuple[tuple[int, _Work], ...] = ((DNS_PORT, _dns_stream), (HTTP_PORT, _http), (TLS_PORT, _tls))
    for port, work in works:
        with contextlib.suppress(OSError):
            await asyncio.start_server(_handler(work, notes), HOST, port, limit=_MAX_HEAD)
            served.append(f"{port}/tcp")
    return served
