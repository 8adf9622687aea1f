"""A TCP port in front of a unix socket: an engine behind it is one whose kernel might be another machine's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def relayed(path: str) -> Iterator[str]:
    """Serve on a free port of the loopback until the block ends; the address as ``DOCKER_HOST`` has it."""
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_serve, args=(listener, path), daemon=True).start()
    try:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _serve(listener: socket.socket, path: str) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=_copy, args=(one, other), daemon=True).start()


def _copy(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(1 << 16):
            other.sendall(data)
    # The end of one direction is told, and the other goes on.
    with suppress(OSError):
        other.shutdown(socket.SHUT_WR)
