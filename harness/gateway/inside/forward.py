"""Bytes between the loopback port that an agent is given and the gateway's socket. Knows nothing of HTTP.

A loop of its own over epoll: asyncio takes twice the time for the same, and each request goes through here twice.
"""

from __future__ import annotations

import select
import socket

HOST, PORT = "127.0.0.1", 8080
SOCKET = "/run/gateway/gateway.sock"
_PIECE = 256 * 1024
_HIGH = 1 << 20
_BACKLOG = 1024
_GONE = select.EPOLLERR | select.EPOLLHUP


class _End:
    """One end of a pair of connections; ``out`` is what it could not take yet."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.socket = sock
        self.number = sock.fileno()
        self.out = bytearray()
        self.events = select.EPOLLIN
        self.last = False
        """Nothing follows what is in ``out``."""
        self.other: _End = self


class Forwarder:
    """Pairs of connections, until the process ends."""

    def __init__(self, listener: socket.socket, path: str = SOCKET) -> None:
        self._listener = listener
        self._path = path
        self._poll = select.epoll()
        self._ends: dict[int, _End] = {}
        listener.setblocking(False)
        self._poll.register(listener, select.EPOLLIN)

    def serve(self) -> None:
        """Forward, for ever."""
        waiting, ends = self._listener.fileno(), self._ends
        while True:
            for number, events in self._poll.poll():
                if number == waiting:
                    self._accept()
                    continue
                end = ends.get(number)
                if end is not None and events & select.EPOLLOUT:
                    self._flush(end)
                if end is not None and events & (select.EPOLLIN | _GONE) and number in ends:
                    self._read(end)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return
        gateway = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            gateway.setblocking(False)
            gateway.connect(self._path)
        except OSError:
            client.close()
            gateway.close()
            return
        one, two = _End(client), _End(gateway)
        one.other, two.other = two, one
        for end in (one, two):
            self._ends[end.number] = end
            self._poll.register(end.number, end.events)

    def _read(self, end: _End) -> None:
        other = end.other
        try:
            data = end.socket.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            self._close(end)
            return
        if not data:
            other.last = True
            self._watch(end, end.events & ~select.EPOLLIN)
            if not other.out:
                self._close(end)
            return
        if not other.out:
            try:
                sent = other.socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._close(end)
                return
            if sent == len(data):
                return
            data = data[sent:]
        other.out += data
        self._watch(other, other.events | select.EPOLLOUT)
        if len(other.out) > _HIGH:
            self._watch(end, end.events & ~select.EPOLLIN)

    def _flush(self, end: _End) -> None:
        try:
            del end.out[: end.socket.send(end.out)]
        except BlockingIOError:
            return
        except OSError:
            self._close(end)
            return
        if end.out:
            return
        if end.last:
            self._close(end)
            return
        self._watch(end, end.events & ~select.EPOLLOUT)
        self._watch(end.other, end.other.events | select.EPOLLIN)

    def _watch(self, end: _End, events: int) -> None:
        if events != end.events:
            end.events = events
            self._poll.modify(end.number, events)

    def _close(self, end: _End) -> None:
        for one in (end, end.other):
            if self._ends.pop(one.number, None) is not None:
                self._poll.unregister(one.number)
                one.socket.close()


def bind(host: str = HOST, port: int = PORT) -> socket.socket:
    """The listening socket.

    Raises:
        OSError: something else in the container has the port.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(_BACKLOG)
    return listener
