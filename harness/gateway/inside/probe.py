"""Whether anything can be reached from in here: the tables first, and only where they lead nowhere a try.

Standard input is JSON ``{"targets": [[NAME, KIND, ADDRESS, PORT], ...]}`` with KIND ``tcp``, ``tls``, ``http``,
``udp``, ``dns A``, ``dns TXT`` or ``name``; standard output ``{"tables": [...], "results": {NAME: WHY_NOT or
"reached"}}``. With any interface or route but the loopback's nothing is tried, and there are no results.
"""

from __future__ import annotations

import errno
import json
import socket
import struct
import sys
from pathlib import Path

REACHED = "reached"
_PATIENCE_S = 3.0
_NOWHERE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPERM)
_TYPES = {"dns A": 1, "dns TXT": 16}


def tables() -> list[str]:
    """The interfaces and routes that are not the loopback's."""
    found = [line.split(":")[0].strip() for line in _lines("dev")[2:]]
    routes = [line.split()[0] for line in _lines("route")[1:]] + [line.split()[-1] for line in _lines("ipv6_route")]
    return sorted({name for name in [*found, *routes] if name != "lo"})


def _lines(name: str) -> list[str]:
    path = Path("/proc/self/net") / name
    return [line for line in path.read_text().splitlines() if line.strip()] if path.exists() else []


def attempt(kind: str, address: str, port: int) -> str:
    """Try to reach an address; ``reached``, or the name of the error that says why not.

    Any answer of the other side counts, a refusal too: whoever refuses was reached. Only on the loopback, which is
    this container's own, does a refusal count for nothing.
    """
    own = address.startswith("127.") or address == "::1"
    try:
        if kind == "name":
            socket.getaddrinfo(address, port)
            return REACHED
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        datagrams = kind == "udp" or kind in _TYPES
        with socket.socket(family, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM) as one:
            one.settimeout(_PATIENCE_S)
            one.connect((address, port))
            if kind in _TYPES:
                one.send(query("example.com", _TYPES[kind]))
                one.recv(512)
            elif kind != "tcp":
                one.send({"tls": hello("example.com"), "udp": b"\0"}.get(kind, b"GET / HTTP/1.0\r\n\r\n"))
            return REACHED
    except socket.gaierror as error:
        return f"no name: {error.args[0]}"
    except socket.timeout:  # noqa: UP041 - another one before 3.10
        return "silence"
    except OSError as error:
        away = error.errno in _NOWHERE or (own and error.errno == errno.ECONNREFUSED)
        return errno.errorcode.get(error.errno or 0, "error") if away else REACHED


def query(name: str, kind: int) -> bytes:
    """A DNS query."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def hello(name: str) -> bytes:
    """A TLS client's first record that asks for a server by a name."""
    host = name.encode()
    entry = b"\0" + struct.pack(">H", len(host)) + host
    listed = struct.pack(">H", len(entry)) + entry
    extension = struct.pack(">HH", 0, len(listed)) + listed
    body = b"\3\3" + bytes(32) + b"\0" + struct.pack(">HH", 2, 0x1301) + b"\1\0"
    body += struct.pack(">H", len(extension)) + extension
    shake = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack(">H", len(shake)) + shake


def main() -> None:
    """Look, and try only where the tables lead nowhere."""
    asked = json.load(sys.stdin)
    seen = tables()
    results = {} if seen else {name: attempt(kind, address, port) for name, kind, address, port in asked["targets"]}
    json.dump({"tables": seen, "results": results}, sys.stdout)


if __name__ == "__main__":
    main()
